// SPDX-License-Identifier: Apache-2.0
// How attempts start, how the call is committed to one, and how they end.
#include "call/attempts.h"

#include "call/call.h"
#include "call/outcome.h"
#include "policy/hedging.h"

namespace levee {

void Attempts::StartFirst(int price, bool pays, Instant now) {
  if (pays) books_.plan.budget.Deposit(books_.plan.worker, now);
  if (books_.plan.shadow != nullptr) {
    shadow_ =
        std::make_unique<ShadowCall>(*books_.plan.shadow, books_.plan.latency, books_.plan.worker);
    shadow_->Begin(books_.record.start, books_.callers_deadline, books_.signs.is_stream(), pays,
                   now);
  }
  Start({.price = price}, now);
}

// When an attempt that begins now is given up if it has not answered. A policy that only observes
// must not end attempts that it will not retry.
inline Instant Attempts::AttemptDeadline(Instant now) const {
  const bool bounded = !books_.Observes() && !books_.signs.is_stream();
  return bounded ? now + books_.plan.policy.retry.attempt_timeout : Instant::Infinite();
}

// The upstream ends the call at the deadline that it is told. So a bound of unary calls is told
// only where a descriptor says that the call is one.
inline Instant Attempts::ToldDeadline(Instant attempt_deadline) const {
  return books_.method.described() ? std::min(books_.deadline, attempt_deadline)
                                   : books_.callers_deadline;
}

void Attempts::Start(const PlannedAttempt& next, Instant now) {
  const uint32_t record = next.record ? *next.record : AddRecord(next, now);
  const int number = next.number ? *next.number : made_;
  const int previous = books_.app_attempts + number - 1;
  if (books_.plan.retries != nullptr) books_.plan.retries->AddAttempt(previous, now);
  const Instant attempt_deadline = AttemptDeadline(now);
  const bool repeatable = books_.body.replayable() &&
                          made_ < books_.plan.policy.retry.max_attempts && !books_.Observes();
  const AttemptId id = books_.host.StartAttempt({.previous_attempts = previous,
                                                 .record = record,
                                                 .deadline = books_.deadline,
                                                 .told = ToldDeadline(attempt_deadline),
                                                 .begun = books_.record.attempts.front().start,
                                                 .avoid = failed_endpoints_.all(),
                                                 .forbidden = failed_endpoints_.forbidden(),
                                                 .repeatable = repeatable});
  active_.Add({.id = id,
               .record = record,
               .number = number,
               .price = next.price,
               .deadline = attempt_deadline});
  // While an attempt is scheduled, that is the next one.
  const bool may_hedge = books_.plan.hedge != nullptr && !next_.scheduled() &&
                         made_ < books_.plan.policy.retry.max_attempts;
  hedge_at_ = may_hedge ? now + HedgeDelay(*books_.plan.hedge, books_.plan.latency, now)
                        : Instant::Infinite();
  // One that takes the place of a stream that never left changes nothing about the next attempt.
  if (shadow_ != nullptr && !next_.scheduled()) shadow_->OnAttempt(next.trigger, Facts(now), now);
  SendBuffered(id);
  if (!books_.body.replayable()) Commit(id, now);
  call_.WakeBy(std::min(attempt_deadline, hedge_at_));
}

uint32_t Attempts::AddRecord(const PlannedAttempt& next, Instant now) {
  AttemptRecord& record = books_.record.attempts.emplace_back();
  record.start = now;
  record.transparent = next.transparent;
  record.trigger = next.trigger;
  record.after = next.after;
  record.delay = next.delay;
  record.backed_off = next.backed_off;
  // A transparent attempt repeats the one before it: same number on the wire, not counted again.
  if (!next.transparent) ++made_;
  return static_cast<uint32_t>(books_.record.attempts.size() - 1);
}

void Attempts::SendBuffered(AttemptId id) {
  const auto& chunks = books_.body.chunks();
  for (size_t i = 0; i < chunks.size(); ++i) {
    books_.host.SendRequest(id, chunks[i], books_.body.half_closed() && i + 1 == chunks.size());
  }
  if (chunks.empty() && books_.body.half_closed()) books_.host.SendRequest(id, Chunk(), true);
}

void Attempts::StartHedge(Instant now) {
  hedge_at_ = Instant::Infinite();
  const auto refusal =
      RefuseHedge(books_.plan.policy, Facts(now), now, books_.plan.budget, books_.plan.worker);
  if (refusal.has_value()) {
    books_.record.refused = refusal;
  } else {
    Start({.trigger = RetryTrigger::kHedge, .price = 1}, now);
  }
}

void Attempts::OnDue(Instant now) {
  while (const ActiveAttempt* const late = active_.FindTimedOut(now)) {
    OnTimeout(*late, now);
    if (books_.finished) return;
  }
  if (ActiveAttempt* const held = active_.FindHeldLongEnough(now)) CommitToAnswer(held->id, now);
  if (now >= next_.due()) {
    ActOnNext(next_.OnDue(now), now);
    if (books_.finished) return;
  }
  if (now >= hedge_at_) StartHedge(now);
}

void Attempts::OnHead(AttemptId id, Instant now) {
  ActiveAttempt* const attempt = active_.Find(id);
  if (attempt == nullptr) return;
  attempt->has_head = true;
  if (committed_ || !MayHold()) {
    CommitToAnswer(id, now);
    return;
  }
  attempt->hold_until = now + books_.plan.policy.retry.hold;
  call_.WakeBy(attempt->hold_until);
}

bool Attempts::MayHold() const {
  // A caller whose half is open may be waiting for the head before it sends more. The last
  // attempt's head is held as well: its failure is answered with a mark, unless the answer has
  // begun.
  const RetryPolicy& retry = books_.plan.policy.retry;
  return retry.commit == CommitMode::kAuto && books_.body.half_closed() &&
         books_.body.replayable() && !books_.Observes() && MayRetry(retry) &&
         retry.hold > absl::ZeroDuration();
}

void Attempts::BeginAnswer(AttemptId id, Instant now) {
  if (shadow_ != nullptr) shadow_->OnAnswer(Facts(now), now);
  answered_ = true;
  answered_at_ = now;
  if (ActiveAttempt* const attempt = active_.Find(id)) {
    // attempt_timeout bounds the wait for an answer, not the length of a stream.
    attempt->deadline = Instant::Infinite();
  }
  if (!committed_) Commit(id, now);
}

void Attempts::Commit(AttemptId id, Instant now) {
  committed_ = true;
  CancelNext(WaitEnd::kCancelled, now);
  AbandonOthers(id, StatusCode::kCancelled, now);
  if (ActiveAttempt* const attempt = active_.Find(id)) attempt->hold_until = Instant::Infinite();
  books_.body.Clear();
  books_.host.Commit(id);
}

void Attempts::OnEnd(AttemptId id, const AttemptOutcome& outcome, Instant now) {
  if (!Has(id)) return;
  const ActiveAttempt attempt = active_.Remove(id);
  if (outcome.code == StatusCode::kCancelled && books_.EndsByDeadline(now)) {
    AttemptOutcome timed_out = outcome;
    timed_out.kind = AttemptOutcome::Kind::kTimeout;
    timed_out.code = StatusCode::kDeadlineExceeded;
    may_have_run_ = true;
    CloseRecord(attempt, timed_out, now);
    Ends().TellAtDeadline(attempt, timed_out, now);
    call_.EndAtDeadline(now);
    return;
  }
  if (outcome.code != StatusCode::kOk) {
    if (answered_) Ends().TellLatency(attempt, answered_at_, now);
    const bool late = EndsByAttemptTimeout(attempt, outcome, now);
    OnFailure(attempt, late ? OutcomeOfAttemptTimeout(outcome.place) : outcome, now);
    return;
  }
  CommitToAnswer(id, now);
  books_.signs.OnEnd();
  Ends().TellLatency(attempt, answered_at_, now);
  application_said_ = StatusCode::kOk;
  NoteServiceTime(attempt, outcome);
  RecordEnd(attempt, outcome, now);
  call_.EndForwarding(id, StatusCode::kOk, now);
}

void Attempts::RecordEnd(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now) {
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

void Attempts::CloseRecord(const ActiveAttempt& attempt, const AttemptOutcome& outcome,
                           Instant now) {
  AttemptRecord& record = books_.record.attempts[attempt.record];
  record.end = now;
  record.code = outcome.code;
  record.endpoint = outcome.place.endpoint;
  if (outcome.mark.has_value()) record.mark_received = outcome.mark->scope;
}

void Attempts::NoteServiceTime(const ActiveAttempt& attempt, const AttemptOutcome& outcome) {
  // Of a stream the end says nothing about the service.
  if (!books_.body.half_closed() || books_.signs.is_stream()) return;
  call_.OnServed(attempt.record, outcome.code == StatusCode::kOk ? GuardGate::Served::kAnswered
                                                                 : GuardGate::Served::kFailed);
}

AttemptPlace Attempts::Abandon(AttemptId id, StatusCode code, Instant now) {
  AttemptRecord& record = books_.record.attempts[active_.Remove(id).record];
  const AttemptPlace place = books_.host.CancelAttempt(id);
  may_have_run_ = may_have_run_ || place.endpoint >= 0;
  record.end = now;
  record.code = code;
  record.endpoint = place.endpoint;
  return place;
}

void Attempts::OnStream() {
  active_.ForgetTimeouts();
  if (shadow_ != nullptr) shadow_->OnStream();
}

void Attempts::GoOnAlone(Instant now) {
  alone_ = true;
  CancelNext(WaitEnd::kCancelled, now);
  const ActiveAttempts running = active_;
  for (const ActiveAttempt& attempt : running) {
    if (!books_.host.HasLeft(attempt.id)) Abandon(attempt.id, StatusCode::kCancelled, now);
  }
}

void Attempts::OnDeadline(Instant now) {
  if (next_.in_line()) {
    // The caller, whose clock is ahead, has left a moment before the wait would have ended.
    books_.record.refused = RefusalReason::kBudget;
    CancelNext(WaitEnd::kDeadline, now);
  }
  const bool stream = books_.signs.is_stream();
  while (!active_.empty()) {
    const ActiveAttempt attempt = active_.oldest();
    if (!stream) call_.OnServed(attempt.record, GuardGate::Served::kCut);
    AttemptOutcome timed_out;
    timed_out.kind = AttemptOutcome::Kind::kTimeout;
    timed_out.code = StatusCode::kDeadlineExceeded;
    timed_out.place = Abandon(attempt.id, timed_out.code, now);
    // An upstream that lets calls run into their deadline is no healthier than one that fails; one
    // that answers for as long as the caller listens is, and a stream may be quiet.
    if (attempt.has_head || stream || timed_out.place.endpoint < 0) continue;
    Ends().TellAtDeadline(attempt, timed_out, now);
  }
}

void Attempts::Close(Instant now) {
  CancelNext(WaitEnd::kCancelled, now);
  if (shadow_ != nullptr) books_.record.shadow = shadow_->End(Facts(now), now);
  AbandonAll(StatusCode::kCancelled, now);
}

}  // namespace levee
