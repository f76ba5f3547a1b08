// SPDX-License-Identifier: Apache-2.0
#include "policy/failed_calls.h"

#include "absl/hash/hash.h"

namespace levee {
namespace {

uint64_t IdOf(const CallKin& kin, const FirstMessage& message) {
  return absl::HashOf(kin, message.hash);
}

bool SaysTooLittle(const CallKin& kin, const FirstMessage& message) {
  return !kin.traced && message.empty;
}

}  // namespace

bool FailedCalls::MayHave(const CallKin& kin, Instant now) {
  ForgetOld(now);
  const auto found = kin_.find(kin);
  return found != kin_.end() && (kin.traced || found->second > 1);
}

FailedCalls::Entry* FailedCalls::Get(const CallKin& kin, const FirstMessage& message) {
  const auto found = entries_.find(IdOf(kin, message));
  return found == entries_.end() ? nullptr : &found->second;
}

FailedCalls::Likeness FailedCalls::Find(const CallKin& kin, const FirstMessage& message,
                                        Instant now) {
  ForgetOld(now);
  Entry* const entry = SaysTooLittle(kin, message) ? nullptr : Get(kin, message);
  if (entry == nullptr) return Likeness::kNone;
  if (!kin.traced && succeeded_at_ > entry->failed_at) {
    Erase(*entry);
    return Likeness::kNone;
  }
  if (entry->refusals >= kRefusals) return Likeness::kMaybePoll;
  if (kin.traced) return Likeness::kRetry;
  // A connection on which all messages are equal does not tell loops from other calls.
  const bool only_message = kin_.find(kin)->second == 1;
  const bool many = entry->repeated >= kUntracedRetries;
  const bool slow = now - entry->seen_at >= kPollGap;
  return only_message || many || slow ? Likeness::kMaybePoll : Likeness::kRetry;
}

bool FailedCalls::OnFailed(const CallKin& kin, const FirstMessage& message, Instant begun,
                           Instant now) {
  if (SaysTooLittle(kin, message) || (!kin.traced && succeeded_at_ > begun)) return true;
  ForgetOld(now);
  Entry* entry = Get(kin, message);
  const bool had_room = entry != nullptr || room_.left > 0;
  if (entry == nullptr) {
    if (!had_room && !MakeRoom()) return false;
    --room_.left;
    entry = &entries_[IdOf(kin, message)];
    entry->id = IdOf(kin, message);
    entry->kin = kin;
    ++kin_[kin];
  } else {
    ++entry->repeated;
  }
  entry->failed_at = entry->seen_at = now;
  entry->refusals = 0;
  entry->Unlink();
  ListOf(kin).PushBack(*entry);
  return had_room;
}

void FailedCalls::OnRefused(const CallKin& kin, const FirstMessage& message, Instant now) {
  Entry* const entry = Get(kin, message);
  if (entry == nullptr) return;
  entry->seen_at = now;
  ++entry->refusals;
  ++entry->repeated;
}

void FailedCalls::OnAnswered(const CallKin& kin, const FirstMessage& message) {
  if (Entry* const entry = Get(kin, message)) Erase(*entry);
}

void FailedCalls::ForgetOld(Instant now) {
  const auto forget = [&](IntrusiveList<Entry>& list, absl::Duration kept_for) {
    while (!list.empty() && now - list.Front().failed_at >= kept_for) Erase(list.Front());
  };
  forget(traced_, kTracedFor);
  forget(untraced_, kUntracedFor);
}

// Forgets the oldest call, if there is one.
bool FailedCalls::MakeRoom() {
  if (entries_.empty()) return false;
  const bool from_traced =
      untraced_.empty() ||
      (!traced_.empty() && traced_.Front().failed_at <= untraced_.Front().failed_at);
  Erase((from_traced ? traced_ : untraced_).Front());
  return true;
}

void FailedCalls::Erase(Entry& entry) {
  const auto kin = kin_.find(entry.kin);
  if (--kin->second == 0) kin_.erase(kin);
  ++room_.left;
  const uint64_t id = entry.id;
  entries_.erase(id);
}

}  // namespace levee
