// SPDX-License-Identifier: Apache-2.0
#include "call/guard_gate.h"

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
bool GuardGate::NeedsWork() const {
  const GuardPolicy& policy = books_.plan.guard->guard().policy();
  return !policy.observe && policy.concurrency.kind != ConcurrencyPolicy::Kind::kNone &&
         !TakesNoSlot();
}

// Whether streams hold their slots to the end.
bool GuardGate::KeepsStreams() const {
  return books_.plan.guard->guard().policy().concurrency.streams ==
         ConcurrencyPolicy::Streams::kCount;
}

// Whether the call is a stream that needs no slot. A request of several messages alone frees none
// of a method that answers as unary: any caller can send one.
bool GuardGate::TakesNoSlot() const {
  switch (books_.plan.guard->guard().policy().concurrency.streams) {
    case ConcurrencyPolicy::Streams::kAuto:
      return books_.signs.is_stream_for_service();
    case ConcurrencyPolicy::Streams::kCount:
      return false;
    case ConcurrencyPolicy::Streams::kFree:
      return books_.signs.is_stream();
  }
  return false;
}

void GuardGate::Enter(Instant now) {
  if (books_.HasWork() || !NeedsWork()) {
    stage_ = Stage::kOutside;
    waiting_.reset();
    if (Pass(now)) call_.StartFirstAttempt(now);
  } else if (awaits_work()) {
    Borrow(now);
  } else {
    stage_ = Stage::kAwaitsWork;
    waiting_.reset(new Waiting(*this, books_.plan.guard->worker(), now));
    waiting_->due = now + kWorkWait;
    call_.WakeBy(waiting_->due);
  }
}

// Some callers send no message before the service has answered with a head. Their calls go to the
// service, but only in slots that no other call needs.
void GuardGate::Borrow(Instant now) {
  const auto refusal = books_.plan.guard->Lend(waiting_->place, books_.app_attempts, now);
  const absl::Duration waited = now - waiting_->since;
  if (refusal.has_value() && waited < kLoanWait) {
    waiting_->due = now + waited;
    call_.WakeBy(waiting_->due);
    return;
  }
  NoteArrival();
  books_.record.guard.waited = waited;
  if (refusal.has_value()) {
    stage_ = Stage::kOutside;
    waiting_.reset();
    NoteRefusal(*refusal);
    EndRefused(*refusal, now);
    return;
  }
  stage_ = Stage::kOnLoan;
  CheckState();
  call_.StartFirstAttempt(now);
}

void GuardGate::KeepLoan() {
  // If it was taken back, the refusal is on its way.
  if (!books_.plan.guard->Keep(waiting_->place)) return;
  waiting_.reset();
  TakeSlot();
}

void GuardGate::TakeSlot() {
  stage_ = Stage::kHasSlot;
  CountSlot();
  CheckState();
}

// The guard counts the streams that hold slots, to say so to those that it refuses, and the calls
// of which it cannot know how long they take.
void GuardGate::CountSlot() {
  if (books_.signs.is_stream()) {
    SetCounted(Counted::kOfStream);
  } else if (books_.plan.guard->guard().IsNew(books_.guard_method)) {
    SetCounted(Counted::kOfNewMethod);
  }
}

void GuardGate::ChangeCounted(Counted counted) {
  Guard& guard = books_.plan.guard->guard();
  if (counted_ == Counted::kOfNewMethod) guard.CountNew(-1);
  if (counted_ == Counted::kOfStream) guard.CountStream(-1);
  if (counted == Counted::kOfNewMethod) guard.CountNew(1);
  if (counted == Counted::kOfStream) guard.CountStream(1);
  counted_ = counted;
}

void GuardGate::NoteArrival() {
  books_.record.guard.decision = GuardDecision::kAdmitted;
  books_.record.guard.priority = books_.priority;
  books_.host.OnGuarded(books_.app_attempts);
}

// Whether the call may go to the service now. If not, it waits for a slot, or is finished.
bool GuardGate::Pass(Instant now) {
  GuardLine& guard = *books_.plan.guard;
  NoteArrival();
  if (TakesNoSlot()) return true;
  if (guard.TryEnter(books_.app_attempts, now)) {
    TakeSlot();
    return true;
  }
  waiting_.reset(new Waiting(*this, guard.worker(), now));
  const GuardRank rank(books_.app_attempts > 0, books_.priority, books_.user);
  const Instant start_by = guard.StartBy(books_.guard_method, books_.deadline, now);
  const Guard::Entry entry = guard.Enter(waiting_->place, rank, start_by, now);
  if (entry.waits) {
    books_.record.guard.decision = GuardDecision::kQueued;
    stage_ = Stage::kWaits;
    CheckState();
    // Its place alone waits where the guard only observes.
    if (observes()) return true;
    call_.WakeBy(books_.deadline);
    return false;
  }
  waiting_.reset();
  if (!entry.refusal.has_value()) {
    TakeSlot();
    return true;
  }
  NoteRefusal(*entry.refusal);
  if (observes()) return true;
  EndRefused(*entry.refusal, now);
  return false;
}

void GuardGate::OnSlot(Instant now) {
  const OneEvent event(&books_.plan.replay);
  books_.record.guard.waited = now - waiting_->since;
  waiting_.reset();
  stage_ = Stage::kHasSlot;
  if (books_.signs.OnWaited()) call_.BecomeStream(now);
  // As a stream it may have given the slot back.
  if (stage_ == Stage::kHasSlot) TakeSlot();
  if (TakesNoSlot()) Leave(now);
  if (observes()) return;
  if (now >= books_.deadline) {
    call_.EndAtDeadline(now);
  } else {
    call_.StartFirstAttempt(now);
  }
}

void GuardGate::OnGuardRefused(const GuardRefusal& refusal, Instant now) {
  const OneEvent event(&books_.plan.replay);
  const Stage stage = std::exchange(stage_, Stage::kOutside);
  if (stage != Stage::kOnLoan) books_.record.guard.waited = now - waiting_->since;
  waiting_.reset();
  NoteRefusal(refusal);
  if (!observes()) EndRefused(refusal, now);
}

void GuardGate::NoteRefusal(const GuardRefusal& refusal) {
  books_.record.guard.decision = GuardDecision::kRefused;
  books_.record.guard.reason = refusal.reason;
}

std::string GuardGate::WhyRefused(GuardReason reason, int limit) const {
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

void GuardGate::EndRefused(const GuardRefusal& refusal, Instant now) {
  MarkedStatus marked;
  marked.mark.scope = refusal.scope;
  if (refusal.scope == OverloadScope::kService) {
    marked.message = "overloaded, do not retry: the service has no room for this call";
  } else {
    marked.message = "overloaded: this instance of the service has no room for this call";
    marked.pushback = refusal.pushback;
  }
  const Guard::Slots slots = books_.plan.guard->guard().GetSlots();
  absl::StrAppend(&marked.message, "; ", WhyRefused(refusal.reason, slots.limit));
  if (slots.streams > 0) {
    absl::StrAppend(&marked.message, "; streams hold ", slots.streams, " of its ", slots.limit,
                    " slots");
  }
  call_.EndUnsent(marked, GuardReasonName(refusal.reason), now);
}

void GuardGate::OnStream(Instant now) {
  if (books_.plan.guard == nullptr) return;
  if (stage_ == Stage::kHasSlot) CountSlot();
  // One that waits for a slot gives it back once it has it.
  if (TakesNoSlot() && (stage_ != Stage::kWaits || observes())) Leave(now);
}

void GuardGate::GiveBack(Instant now) {
  const Stage stage = std::exchange(stage_, Stage::kOutside);
  if (const auto waiting = std::exchange(waiting_, nullptr)) {
    if (stage == Stage::kWaits) books_.record.guard.waited = now - waiting->since;
    books_.plan.guard->Withdraw(waiting->place, now);
  }
  SetCounted(Counted::kPlain);
  if (stage != Stage::kHasSlot) return;
  // How long the service took for the last attempt that says so.
  std::optional<ServiceTime> served;
  if (served_ != Served::kNot) {
    const AttemptRecord& record = books_.record.attempts[served_record_];
    served = {.took = record.end - record.start,
              .failed = served_ == Served::kFailed,
              .cut = served_ == Served::kCut};
  }
  books_.plan.guard->Leave(books_.guard_method, served, now);
}

}  // namespace levee
