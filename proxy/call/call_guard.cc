// SPDX-License-Identifier: Apache-2.0
// How a call passes the guard of its service, and leaves it.
#include <optional>
#include <utility>

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
  const Guard& guard = parts_.guard->guard();
  const GuardPolicy& policy = guard.policy();
  return !policy.observe && policy.concurrency.kind != ConcurrencyPolicy::Kind::kNone &&
         !guard.IsStream(parts_.guard_method);
}

void Call::GoToGuard(Instant now) {
  if (IsWork() || !NeedsWork()) {
    awaits_work_ = false;
    next_at_ = Instant::Infinite();
    if (PassGuard(now)) StartFirstAttempt(now);
  } else if (std::exchange(awaits_work_, true)) {
    BorrowSlot(now);
  } else {
    guard_since_ = now;
    next_at_ = now + kWorkWait;
    ArmTimer();
  }
}

// Some callers send no message before the service has answered with a head. Their calls go to the
// service, but only in slots that no other call needs.
void Call::BorrowSlot(Instant now) {
  std::unique_ptr<GuardPlace> place(new GuardPlace(*this, parts_.guard->worker()));
  const auto refusal = parts_.guard->Lend(*place, app_attempts_, now);
  const absl::Duration waited = now - guard_since_;
  if (refusal.has_value() && waited < kLoanWait) {
    next_at_ = now + waited;
    ArmTimer();
    return;
  }
  awaits_work_ = false;
  next_at_ = Instant::Infinite();
  NoteArrival();
  record_.guard.waited = waited;
  if (refusal.has_value()) {
    NoteRefusal(*refusal);
    EndByGuard(*refusal, now);
    return;
  }
  guard_place_ = std::move(place);
  on_loan_ = true;
  StartFirstAttempt(now);
}

// More of the request has come.
void Call::NoteWork(const Chunk& chunk, bool end) {
  request_messages_.Add(chunk);
  half_closed_ = half_closed_ || end;
  if (on_loan_ && IsWork()) KeepLoan();
}

void Call::KeepLoan() {
  // If it was taken back, the refusal is on its way.
  if (!parts_.guard->Keep(*guard_place_)) return;
  guard_place_.reset();
  on_loan_ = false;
  has_slot_ = true;
}

void Call::NoteArrival() {
  record_.guard.decision = GuardDecision::kAdmitted;
  record_.guard.priority = facts_.priority;
  record_.guard.previous_attempts = app_attempts_;
}

// Whether the call may go to the service now. If not, it waits for a slot, or is finished.
bool Call::PassGuard(Instant now) {
  GuardLine& guard = *parts_.guard;
  NoteArrival();
  if (guard.guard().IsStream(parts_.guard_method)) return true;
  has_slot_ = guard.TryEnter(app_attempts_, now);
  if (has_slot_) return true;
  guard_place_.reset(new GuardPlace(*this, guard.worker()));
  const GuardRank rank(app_attempts_ > 0, facts_.priority, facts_.user);
  const Instant start_by = guard.StartBy(parts_.guard_method, deadline_, now);
  const Guard::Entry entry = guard.Enter(*guard_place_, rank, start_by, now);
  const bool observes = guard.guard().policy().observe;
  if (entry.waits) {
    record_.guard.decision = GuardDecision::kQueued;
    guard_since_ = now;
    // Its place alone waits where the guard only observes.
    if (!observes) ArmTimer();
    return observes;
  }
  guard_place_.reset();
  has_slot_ = !entry.refusal.has_value();
  if (has_slot_) return true;
  NoteRefusal(*entry.refusal);
  if (!observes) EndByGuard(*entry.refusal, now);
  return observes;
}

void Call::OnSlot(Instant now) {
  const OneEvent event(&parts_.replay);
  guard_place_.reset();
  has_slot_ = true;
  record_.guard.waited = now - guard_since_;
  const Guard& guard = parts_.guard->guard();
  if (is_stream_ || guard.IsStream(parts_.guard_method)) LeaveGuard(now);
  if (guard.policy().observe) return;
  if (now >= deadline_) {
    EndAtDeadline(now);
  } else {
    StartFirstAttempt(now);
  }
}

void Call::OnGuardRefused(const GuardRefusal& refusal, Instant now) {
  const OneEvent event(&parts_.replay);
  guard_place_.reset();
  if (!std::exchange(on_loan_, false)) record_.guard.waited = now - guard_since_;
  NoteRefusal(refusal);
  if (!parts_.guard->guard().policy().observe) EndByGuard(refusal, now);
}

void Call::NoteRefusal(const GuardRefusal& refusal) {
  record_.guard.decision = GuardDecision::kRefused;
  record_.guard.reason = refusal.reason;
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
  EndUnsent(marked, GuardReasonName(refusal.reason), now);
}

void Call::OnStream(Instant now) {
  const OneEvent event(&parts_.replay);
  if (parts_.guard == nullptr || finished_) return;
  const GuardPolicy& policy = parts_.guard->guard().policy();
  if (!policy.concurrency.streams_free) return;
  is_stream_ = true;
  // One that waits for a slot gives it back once it has it.
  if (guard_place_ == nullptr || on_loan_ || policy.observe) LeaveGuard(now);
}

void Call::NoteServiceTime(const ActiveAttempt& attempt, const AttemptOutcome& outcome,
                           Instant now) {
  // Of a stream the end says nothing about the service.
  if (!half_closed_ || !outcome.single_message) return;
  served_in_ = {.took = now - record_.attempts[attempt.record].start,
                .failed = outcome.code != StatusCode::kOk};
}

void Call::LeaveGuard(Instant now) {
  if (const auto place = std::exchange(guard_place_, nullptr)) {
    if (!std::exchange(on_loan_, false)) record_.guard.waited = now - guard_since_;
    parts_.guard->Withdraw(*place, now);
  }
  if (std::exchange(has_slot_, false)) parts_.guard->Leave(parts_.guard_method, served_in_, now);
}

}  // namespace levee
