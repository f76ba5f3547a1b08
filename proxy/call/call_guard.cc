// SPDX-License-Identifier: Apache-2.0
// How a call passes the guard of its service, and leaves it.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "call/call.h"

namespace levee {
namespace {

// How long a call waits for its request before it borrows a slot. Nearly all requests come with
// their heads.
constexpr absl::Duration kWorkWait = absl::Milliseconds(100);

// A call that finds no slot to borrow is refused after this time.
constexpr absl::Duration kLoanWait = absl::Milliseconds(800);

}  // namespace

// Whether the call has to show its request before it takes a slot from others. A head costs its
// caller nothing, and could hold the slot until its deadline.
bool Call::NeedsWork() const {
  const Guard& guard = books_.parts.guard->guard();
  const GuardPolicy& policy = guard.policy();
  return !policy.observe && policy.concurrency.kind != ConcurrencyPolicy::Kind::kNone &&
         !TakesNoSlot();
}

// Whether streams hold their slots to the end.
bool Call::KeepsStreams() const {
  return books_.parts.guard->guard().policy().concurrency.streams ==
         ConcurrencyPolicy::Streams::kCount;
}

// Whether the call is a stream that needs no slot. A request of several messages alone frees none
// of a method that answers as unary: any caller can send one.
bool Call::TakesNoSlot() const {
  switch (books_.parts.guard->guard().policy().concurrency.streams) {
    case ConcurrencyPolicy::Streams::kAuto:
      return books_.signs.is_stream_for_service();
    case ConcurrencyPolicy::Streams::kCount:
      return false;
    case ConcurrencyPolicy::Streams::kFree:
      return books_.signs.is_stream();
  }
  return false;
}

void Call::GoToGuard(Instant now) {
  if (books_.HasWork() || !NeedsWork()) {
    awaits_work_ = false;
    entry_at_ = Instant::Infinite();
    if (PassGuard(now)) StartFirstAttempt(now);
  } else if (std::exchange(awaits_work_, true)) {
    BorrowSlot(now);
  } else {
    guard_since_ = now;
    entry_at_ = now + kWorkWait;
    ArmTimer();
  }
}

// Some callers send no message before the service has answered with a head. Their calls go to the
// service, but only in slots that no other call needs.
void Call::BorrowSlot(Instant now) {
  std::unique_ptr<GuardPlace> place(new GuardPlace(*this, books_.parts.guard->worker()));
  const auto refusal = books_.parts.guard->Lend(*place, books_.app_attempts, now);
  const absl::Duration waited = now - guard_since_;
  if (refusal.has_value() && waited < kLoanWait) {
    entry_at_ = now + waited;
    ArmTimer();
    return;
  }
  awaits_work_ = false;
  entry_at_ = Instant::Infinite();
  NoteArrival();
  books_.record.guard.waited = waited;
  if (refusal.has_value()) {
    NoteRefusal(*refusal);
    EndByGuard(*refusal, now);
    return;
  }
  guard_place_ = std::move(place);
  on_loan_ = true;
  StartFirstAttempt(now);
}

void Call::KeepLoan() {
  // If it was taken back, the refusal is on its way.
  if (!books_.parts.guard->Keep(*guard_place_)) return;
  guard_place_.reset();
  on_loan_ = false;
  has_slot_ = true;
  NoteSlot();
}

// The guard counts the streams that hold slots, to say so to those that it refuses, and the calls
// of which it cannot know how long they take.
void Call::NoteSlot() {
  if (!has_slot_) return;
  Guard& guard = books_.parts.guard->guard();
  if (!books_.signs.is_stream()) {
    if (guard.IsNew(books_.parts.guard_method) && !std::exchange(new_slot_, true))
      guard.CountNew(1);
    return;
  }
  if (std::exchange(new_slot_, false)) guard.CountNew(-1);
  if (!std::exchange(stream_slot_, true)) guard.CountStream(1);
}

void Call::NoteArrival() {
  books_.record.guard.decision = GuardDecision::kAdmitted;
  books_.record.guard.priority = books_.facts.priority;
  books_.parts.host.OnGuarded(books_.app_attempts);
}

// Whether the call may go to the service now. If not, it waits for a slot, or is finished.
bool Call::PassGuard(Instant now) {
  GuardLine& guard = *books_.parts.guard;
  NoteArrival();
  if (TakesNoSlot()) return true;
  has_slot_ = guard.TryEnter(books_.app_attempts, now);
  NoteSlot();
  if (has_slot_) return true;
  guard_place_.reset(new GuardPlace(*this, guard.worker()));
  const GuardRank rank(books_.app_attempts > 0, books_.facts.priority, books_.facts.user);
  const Instant start_by = guard.StartBy(books_.parts.guard_method, books_.deadline, now);
  const Guard::Entry entry = guard.Enter(*guard_place_, rank, start_by, now);
  const bool observes = guard.guard().policy().observe;
  if (entry.waits) {
    books_.record.guard.decision = GuardDecision::kQueued;
    guard_since_ = now;
    // Its place alone waits where the guard only observes.
    if (!observes) ArmTimer();
    return observes;
  }
  guard_place_.reset();
  has_slot_ = !entry.refusal.has_value();
  NoteSlot();
  if (has_slot_) return true;
  NoteRefusal(*entry.refusal);
  if (!observes) EndByGuard(*entry.refusal, now);
  return observes;
}

void Call::OnSlot(Instant now) {
  const OneEvent event(&books_.parts.replay);
  guard_place_.reset();
  has_slot_ = true;
  books_.record.guard.waited = now - guard_since_;
  if (books_.signs.OnWaited()) BecomeStream(now);
  NoteSlot();
  if (TakesNoSlot()) LeaveGuard(now);
  if (books_.parts.guard->guard().policy().observe) return;
  if (now >= books_.deadline) {
    EndAtDeadline(now);
  } else {
    StartFirstAttempt(now);
  }
}

void Call::OnGuardRefused(const GuardRefusal& refusal, Instant now) {
  const OneEvent event(&books_.parts.replay);
  guard_place_.reset();
  if (!std::exchange(on_loan_, false)) books_.record.guard.waited = now - guard_since_;
  NoteRefusal(refusal);
  if (!books_.parts.guard->guard().policy().observe) EndByGuard(refusal, now);
}

void Call::NoteRefusal(const GuardRefusal& refusal) {
  books_.record.guard.decision = GuardDecision::kRefused;
  books_.record.guard.reason = refusal.reason;
}

std::string Call::WhyRefused(GuardReason reason, int limit) const {
  if (reason == GuardReason::kQueue) {
    return absl::StrCat("the call has waited ",
                        absl::ToInt64Milliseconds(books_.record.guard.waited),
                        " ms for one of its ", limit, " slots");
  }
  if (NeedsWork() && !books_.HasWork()) {
    return absl::StrCat("the call has sent no message, and others want all of its ", limit,
                        " slots");
  }
  return absl::StrCat("all of its ", limit, " slots are taken");
}

void Call::EndByGuard(const GuardRefusal& refusal, Instant now) {
  MarkedStatus marked;
  marked.mark.scope = refusal.scope;
  if (refusal.scope == OverloadScope::kService) {
    marked.message = "overloaded, do not retry: the service has no room for this call";
  } else {
    marked.message = "overloaded: this instance of the service has no room for this call";
    marked.pushback = refusal.pushback;
  }
  const Guard::Slots slots = books_.parts.guard->guard().GetSlots();
  absl::StrAppend(&marked.message, "; ", WhyRefused(refusal.reason, slots.limit));
  if (slots.streams > 0) {
    absl::StrAppend(&marked.message, "; streams hold ", slots.streams, " of its ", slots.limit,
                    " slots");
  }
  EndUnsent(marked, GuardReasonName(refusal.reason), now);
}

void Call::LeaveGuard(Instant now) {
  if (const auto place = std::exchange(guard_place_, nullptr)) {
    if (!std::exchange(on_loan_, false)) books_.record.guard.waited = now - guard_since_;
    books_.parts.guard->Withdraw(*place, now);
  }
  if (std::exchange(new_slot_, false)) books_.parts.guard->guard().CountNew(-1);
  if (std::exchange(stream_slot_, false)) books_.parts.guard->guard().CountStream(-1);
  if (std::exchange(has_slot_, false))
    books_.parts.guard->Leave(books_.parts.guard_method, served_in_, now);
}

}  // namespace levee
