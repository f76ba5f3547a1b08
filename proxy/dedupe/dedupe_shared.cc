// SPDX-License-Identifier: Apache-2.0
// How a table of keys goes by a store that it shares with other sidecars.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dedupe/dedupe_entry.h"
#include "dedupe/dedupe_table.h"

namespace levee {
namespace {

// A call that waits for one of another sidecar sees its end this much later than it is there: half
// as long as it has waited, at most kLongest. So a wait of any length costs few looks.
constexpr absl::Duration kFirstLook = absl::Milliseconds(5);
constexpr absl::Duration kLongestLook = absl::Milliseconds(250);

}  // namespace

KeyCommand DedupeTable::CommandFor(const Entry& entry, KeyCommand::Kind kind) const {
  KeyCommand command;
  command.kind = kind;
  command.table = std::const_pointer_cast<DedupeTable>(shared_from_this());
  command.store = policy_.store;
  command.key = entry.key;
  command.token = entry.claim.token;
  command.digest = entry.claim.digest;
  command.claim = policy_.claim;
  command.ttl = policy_.ttl;
  command.on_lost = policy_.on_lost;
  return command;
}

void DedupeTable::AskStore(Entry& entry) {
  Hold(entry);
  entry.here = Entry::Here::kAsks;
  KeyCommand command = CommandFor(entry, KeyCommand::Kind::kAsk);
  // A reply that comes late is not taken for that of another question.
  entry.claim.token = command.token = absl::StrCat(absl::Hex(random_.Next(), absl::kZeroPad16));
  command.digest = entry.waiting.Front().digest_;
  shared_.store->Post(std::move(command));
}

void DedupeTable::Post(const Entry& entry, KeyCommand::Kind kind, Instant now) {
  KeyCommand command = CommandFor(entry, kind);
  command.answer = kind == KeyCommand::Kind::kKeep ? entry.claim.answer : nullptr;
  command.give_up = now + policy_.claim;
  shared_.store->Post(std::move(command));
}

void DedupeTable::LookLater(Entry& entry) {
  KeyCommand command = CommandFor(entry, KeyCommand::Kind::kLook);
  command.after = std::max(entry.look_after, kFirstLook);
  entry.look_after = std::min(command.after * 3 / 2, kLongestLook);
  shared_.store->Post(std::move(command));
}

void DedupeTable::Look(const Sha256& key) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = Find(key);
  if (entry == nullptr || entry->here != Entry::Here::kNone || entry->waiting.empty()) return;
  if (entry->claim.answer == nullptr) AskStore(*entry);
}

void DedupeTable::OnReply(const KeyCommand& asked, const absl::StatusOr<KeyReply>& reply,
                          Instant now) {
  WorkerSet wake;
  {
    const std::lock_guard lock(mutex_);
    Entry* const entry = Find(asked.key);
    // An entry that asks stays until it has its reply.
    if (entry == nullptr || entry->here != Entry::Here::kAsks ||
        entry->claim.token != asked.token) {
      return;
    }
    if (!reply.ok()) {
      const absl::StatusCode code = reply.status().code();
      OnStoreAway(
          *entry,
          code == absl::StatusCode::kDeadlineExceeded || code == absl::StatusCode::kUnavailable,
          now, wake);
    } else if (reply->done) {
      Give(*entry, now, wake);
    } else {
      Learn(*entry, *reply->claim, now, wake);
    }
  }
  Wake(wake);
}

// The sidecar has got the key.
void DedupeTable::Give(Entry& entry, Instant now, WorkerSet& wake) {
  Age(entry, nullptr);
  entry.here = Entry::Here::kRuns;
  ++in_flight_;
  entry.seen = false;
  entry.renewed = now;
  entry.claim.answer = nullptr;
  entry.claim.until = entry.claim.expires = Instant::Infinite();
  const bool wanted = !entry.waiting.empty();
  if (wanted) running_.PushBack(entry);
  Release(entry, now, wake);
  if (!wanted) return;  // The entry is gone.
  entry.waiting.ForEach([&](DedupePlace& place) { Settle(entry, place, now, wake); });
}

// Somebody else has or had the key.
void DedupeTable::Learn(Entry& entry, const KeyClaim& claim, Instant now, WorkerSet& wake) {
  entry.claim = claim;
  entry.seen = true;
  entry.waiting.ForEach([&](DedupePlace& place) { Settle(entry, place, now, wake); });
  Fit(entry, now);
  Age(entry, &ended_);
  Rest(entry);
  if (!entry.waiting.empty()) LookLater(entry);
}

// Tells a call that waits what the claim of another one means for it; it may wait on.
void DedupeTable::Settle(const Entry& entry, DedupePlace& place, Instant now, WorkerSet& wake) {
  switch (LookAtKey(&entry.claim, place.digest_, now)) {
    case KeyView::kNeedsRequest:
      return Tell(place, DedupePlace::State::kAsksAgain, wake);
    case KeyView::kMismatch:
      return Refuse(place, {.kind = DedupeAnswer::Kind::kMismatch}, wake);
    case KeyView::kEnded:
      return Refuse(place, OutcomeOf(entry), wake);
    case KeyView::kLost:
      if (policy_.on_lost == DedupePolicy::Lost::kRun) return;
      return Refuse(place, {.kind = DedupeAnswer::Kind::kLost}, wake);
    case KeyView::kRuns:
      if (policy_.in_flight == DedupePolicy::InFlight::kWait) return;
      return Refuse(place, {.kind = DedupeAnswer::Kind::kInFlight}, wake);
    case KeyView::kFree:
      return;
  }
}

void DedupeTable::OnStoreAway(Entry& entry, bool may_have_claimed, Instant now, WorkerSet& wake) {
  const bool runs = policy_.on_store_failure == DedupePolicy::StoreFailure::kRun;
  // A claim that nobody knows of would keep the key from all calls. After a call that runs without
  // the store it rightly does.
  if (may_have_claimed && (entry.seen || !runs)) Post(entry, KeyCommand::Kind::kRelease, now);
  if (entry.seen) {
    // The first call runs elsewhere, and its answer can still come.
    Rest(entry);
    if (!entry.waiting.empty()) LookLater(entry);
    return;
  }
  entry.waiting.ForEach([&](DedupePlace& place) {
    Refuse(place, {.kind = DedupeAnswer::Kind::kStoreAway, .runs_without_key = runs}, wake);
  });
  Erase(entry);
}

void DedupeTable::Renew(Instant now) {
  const std::lock_guard lock(mutex_);
  while (!running_.empty() && now >= running_.Front().renewed + policy_.claim / 3) {
    Entry& entry = *running_.PopFront();
    entry.renewed = now;
    running_.PushBack(entry);
    Post(entry, KeyCommand::Kind::kRenew, now);
  }
}

}  // namespace levee
