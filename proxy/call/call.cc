// SPDX-License-Identifier: Apache-2.0
#include "call/call.h"

#include <algorithm>

namespace levee {

// Each call under way takes so many bytes. Objects of their own hold what only few calls need.
static_assert(sizeof(Call) <= 700);

Call::Call(const CallParts& parts)
    : books_(parts), attempts_(books_, *this), entry_(books_, *this), guard_(books_, *this) {}

void Call::OnRequest(const Chunk& chunk, bool end, Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (books_.finished) return;
  if (attempts_.committed()) {
    books_.host.OnBroken("a piece of the request came to a call that is committed");
    return;
  }
  if (end) books_.body.HalfClose();
  if (books_.body.replayable()) {
    const ReplayBuffer::Kept kept = books_.body.Keep(chunk);
    books_.record.replay_memory_full = kept == ReplayBuffer::Kept::kNoMemory;
  }
  if (books_.body.replayable()) {
    if (!chunk.empty()) books_.host.CreditRequest(chunk.size());
  } else if (key_ != nullptr && key_->drops_request()) {
    key_->Drop();
    books_.host.CreditRequest(chunk.size());
  } else if (attempts_.empty()) {
    // Between attempts: the next one carries it all and is committed as it starts.
    books_.body.AddPending(chunk);
  }
  NoteRequest(chunk, end, now);
  if (key_ != nullptr && key_->needs_request()) {
    if (end) Begin(now);
    return;
  }
  if (entry_.awaits_message()) {
    entry_.OnRequest(now);
    return;
  }
  if (guard_.awaits_work()) {
    if (books_.HasWork()) guard_.Enter(now);
    return;
  }
  attempts_.SendRequest(chunk, end, now);
}

void Call::OnCallerGone(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (books_.finished) return;
  // A caller ends its call at its deadline by itself, and mostly before this call's own timer is
  // due. The upstream was given all the time there was, as it is then.
  if (key_ != nullptr && key_->GoesOnAlone(attempts_, now)) {
    GoOnAlone(now);
  } else if (now >= books_.callers_leave_from) {
    EndAtDeadline(now);
  } else {
    Finish({.code = StatusCode::kCancelled, .message = "cancelled by the caller"}, now);
  }
}

// The call goes on in the attempts that have left, and makes no others.
void Call::GoOnAlone(Instant now) {
  attempts_.GoOnAlone(now);
  books_.callers_deadline = std::min(books_.callers_deadline, key_->ClaimEnd());
  books_.deadline = std::min(books_.deadline, books_.callers_deadline);
  WakeBy(books_.deadline);
}

// Nobody waits for the answer any more, or it cannot be kept. That says nothing about the upstream.
void Call::EndAlone(Instant now) {
  EndLocally(StatusCode::kCancelled, "the caller has gone, and the call was given up", now);
}

void Call::OnAdmission(const RateAdmission& answer, Instant now) {
  const OneEvent event(&books_.plan.replay);
  entry_.OnAdmission(answer, now);
}

void Call::OnHead(AttemptId id, Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (!books_.finished) attempts_.OnHead(id, now);
}

void Call::OnMessage(AttemptId id, const Chunk& piece, Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (books_.finished || !attempts_.Has(id)) return;
  guard_.OnAnswer();
  attempts_.OnMessage(id, now);
  const bool awaited = !books_.signs.quiet_at().is_infinite();
  if (books_.signs.OnAnswer(piece, now)) {
    BecomeStream(now);
  } else if (!awaited && !books_.signs.quiet_at().is_infinite()) {
    AwaitTrailers(now);
  }
  if (attempts_.alone() && books_.signs.answer().IsStream()) EndAlone(now);
}

void Call::OnAttemptEnd(AttemptId id, const AttemptOutcome& outcome, Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (!books_.finished) attempts_.OnEnd(id, outcome, now);
}

void Call::OnPaid(Instant now) {
  const OneEvent event(&books_.plan.replay);
  attempts_.OnPaid(now);
}

void Call::OnFirstInLine() {
  const OneEvent event(&books_.plan.replay);
  attempts_.OnFirstInLine();
}

void Call::OnWaitOver(Instant now) {
  const OneEvent event(&books_.plan.replay);
  attempts_.OnWaitOver(now);
}

void Call::OnTimer(Instant now) {
  const OneEvent event(&books_.plan.replay);
  timer_at_ = Instant::Infinite();
  if (books_.finished) return;
  if (books_.signs.OnTime(now)) BecomeStream(now);
  if (now >= books_.deadline) {
    EndAtDeadline(now);
    return;
  }
  if (books_.signs.is_stream() && now >= IdleAt()) {
    EndStream(StreamBound::kIdle, now);
    return;
  }
  if (now >= entry_.due()) {
    entry_.OnDue(now);
    if (books_.finished) return;
  }
  if (now >= GatesDue()) {
    Begin(now);
    if (books_.finished) return;
  }
  attempts_.OnDue(now);
  if (books_.finished) return;
  ArmTimer();
}

// When the call is to come to its gates again.
Instant Call::GatesDue() const {
  return key_ == nullptr ? guard_.due() : std::min(key_->due(), guard_.due());
}

void Call::ArmTimer() {
  const Instant due = std::min({entry_.due(), attempts_.due(), books_.signs.quiet_at()});
  WakeBy(std::min(due, GatesDue()));
}

void Call::WakeBy(Instant due) {
  due = std::min(due, books_.deadline);
  if (books_.signs.is_stream()) due = std::min(due, IdleAt());
  if (due >= timer_at_) return;
  timer_at_ = due;
  books_.host.SetTimer(due);
}

}  // namespace levee
