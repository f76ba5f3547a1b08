// SPDX-License-Identifier: Apache-2.0
#include "call/call.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "call/outcome.h"
#include "policy/hedging.h"

namespace levee {

Call::Call(const CallParts& parts) : books_(parts) {}

uint32_t Call::AddRecord(const PlannedAttempt& next, Instant now) {
  AttemptRecord& record = books_.record.attempts.emplace_back();
  record.start = now;
  record.transparent = next.transparent;
  record.trigger = next.trigger;
  record.after = next.after;
  record.delay = next.delay;
  record.backed_off = next.backed_off;
  // A transparent attempt repeats the one before it: same number on the wire, not counted again.
  if (!next.transparent) ++attempts_;
  return static_cast<uint32_t>(books_.record.attempts.size() - 1);
}

void Call::StartAttempt(const PlannedAttempt& next, Instant now) {
  const uint32_t record = next.record ? *next.record : AddRecord(next, now);
  const int number = next.number ? *next.number : attempts_;
  const int previous = books_.app_attempts + number - 1;
  if (books_.parts.retries != nullptr) books_.parts.retries->AddAttempt(previous, now);
  const Instant attempt_deadline = AttemptDeadline(now);
  const bool repeatable = books_.body.replayable() &&
                          attempts_ < books_.parts.policy.retry.max_attempts && !books_.Observes();
  const AttemptId id =
      books_.parts.host.StartAttempt({.previous_attempts = previous,
                                      .record = record,
                                      .deadline = books_.deadline,
                                      .told = ToldDeadline(attempt_deadline),
                                      .begun = books_.record.attempts.front().start,
                                      .avoid = failed_endpoints_,
                                      .forbidden = forbidden_endpoints_,
                                      .repeatable = repeatable});
  active_.Add({.id = id,
               .record = record,
               .number = number,
               .price = next.price,
               .deadline = attempt_deadline});
  // While an attempt is scheduled, that is the next one.
  const bool may_hedge = books_.parts.hedge != nullptr && !next_.scheduled() &&
                         attempts_ < books_.parts.policy.retry.max_attempts;
  hedge_at_ = may_hedge ? now + HedgeDelay(*books_.parts.hedge, books_.parts.latency, now)
                        : Instant::Infinite();
  // One that takes the place of a stream that never left changes nothing about the next attempt.
  if (shadow_ != nullptr && !next_.scheduled()) shadow_->OnAttempt(next.trigger, Facts(now), now);
  SendBuffered(id);
  if (!books_.body.replayable()) Commit(id, now);
  ArmTimer();
}

void Call::SendBuffered(AttemptId id) {
  const auto& chunks = books_.body.chunks();
  for (size_t i = 0; i < chunks.size(); ++i) {
    books_.parts.host.SendRequest(id, chunks[i],
                                  books_.body.half_closed() && i + 1 == chunks.size());
  }
  if (chunks.empty() && books_.body.half_closed()) books_.parts.host.SendRequest(id, Chunk(), true);
}

void Call::StartHedge(Instant now) {
  hedge_at_ = Instant::Infinite();
  const auto refusal =
      RefuseHedge(books_.parts.policy, Facts(now), now, books_.parts.budget, books_.parts.worker);
  if (refusal.has_value()) {
    books_.record.refused = refusal;
  } else {
    StartAttempt({.trigger = RetryTrigger::kHedge, .price = 1}, now);
  }
}

void Call::OnRequest(const Chunk& chunk, bool end, Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_) return;
  if (committed_) {
    books_.parts.host.OnBroken("a piece of the request came to a call that is committed");
    return;
  }
  if (end) books_.body.HalfClose();
  if (books_.body.replayable()) {
    const ReplayBuffer::Kept kept = books_.body.Keep(chunk);
    books_.record.replay_memory_full = kept == ReplayBuffer::Kept::kNoMemory;
  }
  if (books_.body.replayable()) {
    if (!chunk.empty()) books_.parts.host.CreditRequest(chunk.size());
  } else if (DropsRequest()) {
    keyed_->dropped = true;
    books_.parts.host.CreditRequest(chunk.size());
  } else if (active_.empty()) {
    // Between attempts: the next one carries it all and is committed as it starts.
    books_.body.AddPending(chunk);
  }
  NoteRequest(chunk, end, now);
  if (keyed_ != nullptr && keyed_->needs_request) {
    if (end) Begin(now);
    return;
  }
  if (like_failed_ != nullptr && like_failed_->waits) {
    LookAtMessage(now);
    return;
  }
  if (awaits_work_) {
    if (books_.HasWork()) GoToGuard(now);
    return;
  }
  for (const ActiveAttempt& attempt : active_)
    books_.parts.host.SendRequest(attempt.id, chunk, end);
  // Of several attempts the first has had the most time.
  if (!books_.body.replayable() && !active_.empty()) Commit(active_.oldest().id, now);
}

void Call::OnCallerGone(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_) return;
  // A caller ends its call at its deadline by itself, and mostly before this call's own timer is
  // due. The upstream was given all the time there was, as it is then.
  if (GoesOnAlone(now)) {
    GoOnAlone(now);
  } else if (now >= books_.callers_leave_from) {
    EndAtDeadline(now);
  } else {
    Finish({.code = StatusCode::kCancelled, .message = "cancelled by the caller"}, now);
  }
}

bool Call::MayHold() const {
  // A caller whose half is open may be waiting for the head before it sends more. The last
  // attempt's head is held as well: its failure is answered with a mark, unless the answer has
  // begun.
  const RetryPolicy& retry = books_.parts.policy.retry;
  return retry.commit == CommitMode::kAuto && books_.body.half_closed() &&
         books_.body.replayable() && !books_.Observes() && MayRetry(retry) &&
         retry.hold > absl::ZeroDuration();
}

void Call::Commit(AttemptId id, Instant now) {
  committed_ = true;
  CancelRetry(now);
  AbandonOthers(id, StatusCode::kCancelled, now);
  if (ActiveAttempt* const attempt = active_.Find(id)) attempt->hold_until = Instant::Infinite();
  books_.body.Clear();
  books_.parts.host.Commit(id);
}

void Call::CommitToAnswer(AttemptId id, Instant now) {
  if (shadow_ != nullptr && !answered_) shadow_->OnAnswer(Facts(now), now);
  if (!std::exchange(answered_, true)) {
    if (ActiveAttempt* const attempt = active_.Find(id)) {
      // attempt_timeout bounds the wait for an answer, not the length of a stream.
      attempt->deadline = Instant::Infinite();
      answer_took_ = now - books_.record.attempts[attempt->record].start;
    }
  }
  if (!committed_) Commit(id, now);
}

void Call::OnHead(AttemptId id, Instant now) {
  const OneEvent event(&books_.parts.replay);
  ActiveAttempt* const attempt = active_.Find(id);
  if (finished_ || attempt == nullptr) return;
  attempt->has_head = true;
  if (committed_ || !MayHold()) {
    CommitToAnswer(id, now);
    return;
  }
  attempt->hold_until = now + books_.parts.policy.retry.hold;
  ArmTimer();
}

void Call::OnMessage(AttemptId id, const Chunk& piece, Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_ || active_.Find(id) == nullptr) return;
  // The service works on the call, whatever its request is.
  if (on_loan_) KeepLoan();
  if (!committed_) CommitToAnswer(id, now);
  const bool awaited = !books_.signs.quiet_at().is_infinite();
  if (books_.signs.OnAnswer(piece, now)) {
    BecomeStream(now);
  } else if (!awaited && !books_.signs.quiet_at().is_infinite()) {
    AwaitTrailers(now);
  }
  if (alone_ && books_.signs.answer().IsStream()) EndAlone(now);
}

void Call::OnAttemptEnd(AttemptId id, const AttemptOutcome& outcome, Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_ || active_.Find(id) == nullptr) return;
  if (outcome.code == StatusCode::kCancelled && books_.EndsByDeadline(now)) {
    AttemptOutcome timed_out = outcome;
    timed_out.kind = AttemptOutcome::Kind::kTimeout;
    timed_out.code = StatusCode::kDeadlineExceeded;
    may_have_run_ = true;
    const ActiveAttempt attempt = active_.Remove(id);
    CloseRecord(attempt, timed_out, now);
    Ends().TellAtDeadline(attempt, timed_out, now);
    EndAtDeadline(now);
    return;
  }
  if (outcome.code != StatusCode::kOk) {
    if (answered_) Ends().TellLatency(answer_took_, now);
    const ActiveAttempt attempt = active_.Remove(id);
    const bool late = EndsByAttemptTimeout(attempt, outcome, now);
    HandleFailure(attempt, late ? OutcomeOfAttemptTimeout(outcome.place) : outcome, now);
    return;
  }
  CommitToAnswer(id, now);
  books_.signs.OnEnd();
  Ends().TellLatency(answer_took_, now);
  application_said_ = StatusCode::kOk;
  const ActiveAttempt attempt = active_.Remove(id);
  NoteServiceTime(attempt, outcome, now);
  RecordAttemptEnd(attempt, outcome, now);
  EndForwarding(id, StatusCode::kOk, now);
}

void Call::RecordAttemptEnd(const ActiveAttempt& attempt, const AttemptOutcome& outcome,
                            Instant now) {
  CloseRecord(attempt, outcome, now);
  // The upstream may be the one to say that the deadline has passed.
  const bool at_deadline = outcome.kind == AttemptOutcome::Kind::kStatus &&
                           outcome.code == StatusCode::kDeadlineExceeded &&
                           books_.EndsByDeadline(now);
  if (at_deadline) {
    Ends().TellAtDeadline(attempt, outcome, now);
  } else {
    Ends().Tell(attempt, outcome, now);
  }
}

void Call::CloseRecord(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now) {
  AttemptRecord& record = books_.record.attempts[attempt.record];
  record.end = now;
  record.code = outcome.code;
  record.endpoint = outcome.place.endpoint;
  if (outcome.mark.has_value()) record.mark_received = outcome.mark->scope;
}

AttemptPlace Call::Abandon(AttemptId id, StatusCode code, Instant now) {
  AttemptRecord& record = books_.record.attempts[active_.Remove(id).record];
  const AttemptPlace place = books_.parts.host.CancelAttempt(id);
  may_have_run_ = may_have_run_ || place.endpoint >= 0;
  record.end = now;
  record.code = code;
  record.endpoint = place.endpoint;
  return place;
}

void Call::AbandonOthers(AttemptId kept, StatusCode code, Instant now) {
  while (const ActiveAttempt* const other = active_.FindOther(kept)) Abandon(other->id, code, now);
}

void Call::OnTimer(Instant now) {
  const OneEvent event(&books_.parts.replay);
  timer_at_ = Instant::Infinite();
  if (finished_) return;
  if (books_.signs.OnTime(now)) BecomeStream(now);
  if (now >= books_.deadline) {
    EndAtDeadline(now);
    return;
  }
  if (books_.signs.is_stream() && now >= IdleAt()) {
    EndStream(StreamBound::kIdle, now);
    return;
  }
  while (const ActiveAttempt* const late = active_.FindTimedOut(now)) {
    OnAttemptTimeout(*late, now);
    if (finished_) return;
  }
  if (ActiveAttempt* const held = active_.FindHeldLongEnough(now)) CommitToAnswer(held->id, now);
  if (now >= next_.due()) {
    ActOnNext(next_.OnDue(now), now);
    if (finished_) return;
  }
  if (now >= entry_at_) {
    if (like_failed_ != nullptr && like_failed_->waits) {
      LookAtMessage(now);
      return;
    }
    entry_at_ = Instant::Infinite();
    Begin(now);
    if (finished_) return;
  }
  if (now >= hedge_at_) StartHedge(now);
  ArmTimer();
}

void Call::ArmTimer() {
  timer_at_ = std::min(std::min({books_.deadline, entry_at_, next_.due()}),
                       std::min(hedge_at_, active_.NextDue()));
  timer_at_ = std::min(timer_at_, books_.signs.quiet_at());
  if (books_.signs.is_stream()) timer_at_ = std::min(timer_at_, IdleAt());
  books_.parts.host.SetTimer(timer_at_);
}

}  // namespace levee
