// SPDX-License-Identifier: Apache-2.0
// What follows an attempt that failed, from its end to the next attempt or the end of the call.
#include <utility>

#include "absl/algorithm/container.h"
#include "base/about_deadline.h"
#include "call/attempts.h"
#include "call/call.h"
#include "call/outcome.h"

namespace levee {
namespace {

// An attempt that never left costs nothing, so something must end them: after this many in one call
// the failure counts as `connect`.
constexpr int kMaxUnsentAttempts = 5;

}  // namespace

// Whether the upstream has ended the attempt because the time that it was told was over.
bool Attempts::EndsByAttemptTimeout(const ActiveAttempt& attempt, const AttemptOutcome& outcome,
                                    Instant now) const {
  const bool gives_up =
      outcome.code == StatusCode::kDeadlineExceeded || outcome.code == StatusCode::kCancelled;
  return gives_up && books_.method.described() &&
         IsAboutDeadline(now, books_.record.attempts[attempt.record].start, attempt.deadline);
}

void Attempts::OnTimeout(const ActiveAttempt& late, Instant now) {
  const ActiveAttempt attempt = late;
  AttemptOutcome outcome;
  outcome.place = Abandon(attempt.id, StatusCode::kDeadlineExceeded, now);
  if (outcome.place.endpoint >= 0) {
    outcome = OutcomeOfAttemptTimeout(outcome.place);
  } else {
    // It was still waiting for a connection, so nothing can have been processed.
    outcome.kind = AttemptOutcome::Kind::kConnect;
    outcome.code = StatusCode::kUnavailable;
    outcome.message = "attempt_timeout passed before a connection was ready";
  }
  OnFailure(attempt, std::move(outcome), now);
}

void Attempts::OnFailure(const ActiveAttempt& attempt, AttemptOutcome outcome, Instant now) {
  if (outcome.kind == AttemptOutcome::Kind::kUnsent && ++unsent_ > kMaxUnsentAttempts) {
    outcome.kind = AttemptOutcome::Kind::kConnect;
  }
  // An upstream that has begun to answer has processed something, whatever its error code says.
  if (outcome.kind == AttemptOutcome::Kind::kRefused && attempt.has_head) {
    outcome.kind = AttemptOutcome::Kind::kReset;
  }
  NoteFailure(outcome);
  // A stream that never left was no attempt: sent again, it leaves no record and costs nothing.
  const bool unsent = outcome.kind == AttemptOutcome::Kind::kUnsent;
  if (!unsent) RecordEnd(attempt, outcome, now);
  if (outcome.kind == AttemptOutcome::Kind::kStatus) NoteServiceTime(attempt, outcome);
  if (!unsent) first_failed_ = std::min(first_failed_, now);
  RetryFacts facts = Facts(now);
  if (outcome.kind == AttemptOutcome::Kind::kTimeout) ++facts.timeouts;
  if (shadow_ != nullptr && !next_.scheduled()) {
    const bool newest = attempt.record + 1 == books_.record.attempts.size();
    shadow_->OnFailure(outcome, newest, facts, now);
  }
  if (alone_) {
    // The caller repeats the call by itself.
    if (unsent) RecordEnd(attempt, outcome, now);
    if (active_.empty()) call_.EndExhausted(attempt.id, outcome, std::nullopt, now);
    return;
  }
  // One that is to start is the next attempt; a second one would be one too many at a time.
  if (next_.scheduled()) facts.attempts = books_.plan.policy.retry.max_attempts;
  const RetryDecision decision =
      DecideRetry(books_.plan.policy, outcome, facts, now,
                  {books_.plan.random, backoff_, books_.plan.budget, books_.plan.worker});
  const bool waits = decision.action == RetryDecision::Action::kWait;
  if (waits || decision.action == RetryDecision::Action::kRetry) {
    Follow(attempt, std::move(outcome), decision, now);
    return;
  }
  if (unsent) RecordEnd(attempt, outcome, now);
  const bool refused = decision.action == RetryDecision::Action::kRefused;
  if (refused && WaitForOthers(decision.reason, now)) {
    next_.ReplaceFailure(attempt.id, std::move(outcome));
    return;
  }
  call_.EndExhausted(attempt.id, outcome, refused ? std::optional(decision.reason) : std::nullopt,
                     now);
}

// Remembers the endpoint that failed, and whether the application may have run the call.
void Attempts::NoteFailure(const AttemptOutcome& outcome) {
  using Kind = AttemptOutcome::Kind;
  if (const int64_t endpoint = outcome.place.endpoint; endpoint >= 0) {
    const bool forbids =
        outcome.mark.has_value() && outcome.mark->scope == OverloadScope::kEndpoint;
    failed_endpoints_.Add(endpoint, forbids);
  }
  if (outcome.kind == Kind::kStatus) {
    application_said_ = outcome.code;
    may_have_run_ = may_have_run_ || outcome.leaving;
    return;
  }
  const bool unsent = outcome.kind == Kind::kConnect || outcome.kind == Kind::kUnsent ||
                      outcome.kind == Kind::kRefused;
  may_have_run_ = may_have_run_ || !unsent;
}

RetryFacts Attempts::Facts(Instant now) {
  RetryFacts facts;
  facts.attempts = made_;
  facts.answered = answered_;
  facts.transparent_used = transparent_used_;
  facts.replayable = books_.body.replayable();
  facts.idempotent = books_.plan.idempotent;
  facts.deadline = books_.deadline;
  facts.first_start = books_.record.attempts.front().start;
  facts.inbound = books_.plan.inbound;
  facts.may_wait = books_.plan.waiting != nullptr && !books_.plan.inbound && !next_.scheduled();
  facts.first_failed = first_failed_;
  facts.timeouts =
      static_cast<int>(absl::c_count_if(books_.record.attempts, [](const AttemptRecord& attempt) {
        return attempt.trigger == RetryTrigger::kTimeout;
      }));
  if (!books_.deadline.is_infinite()) {
    facts.expected = books_.plan.latency.Quantile(0.5, now).value_or(absl::ZeroDuration());
  }
  return facts;
}

// Another attempt follows the one that failed: at once, after a delay, or once something pays for
// it.
void Attempts::Follow(const ActiveAttempt& failed, AttemptOutcome outcome,
                      const RetryDecision& decision, Instant now) {
  const bool unsent = outcome.kind == AttemptOutcome::Kind::kUnsent;
  transparent_used_ = transparent_used_ || (decision.transparent && !unsent);
  PlannedAttempt next = {.trigger = decision.trigger,
                         .after = outcome.code,
                         .delay = decision.delay,
                         .backed_off = decision.backed_off,
                         .transparent = decision.transparent,
                         .price = decision.price};
  if (unsent) next = {.price = failed.price, .record = failed.record};
  if (decision.transparent) next.number = failed.number;
  const bool paid = decision.action == RetryDecision::Action::kRetry;
  if (paid && next.delay <= absl::ZeroDuration()) {
    Start(next, now);
    return;
  }
  // The server's wait (or the backoff) holds for hedges as well.
  hedge_at_ = Instant::Infinite();
  if (paid) {
    next_.Schedule(next, now);
  } else {
    std::unique_ptr<UnpaidRetry> unpaid(new UnpaidRetry{
        .place{*books_.plan.waiting, call_, first_failed_, now, decision.wait_until},
        .bounded = decision.wait_bounded,
        .failed = failed.id,
        .outcome = std::move(outcome)});
    next_.ScheduleUnpaid(next, std::move(unpaid), now);
    if (now >= next_.due()) ActOnNext(next_.OnDue(now), now);
  }
  if (!books_.finished) call_.WakeBy(next_.due());
}

void Attempts::ActOnNext(NextAttempt::Step step, Instant now) {
  switch (step) {
    case NextAttempt::Step::kWaits:
      return;
    case NextAttempt::Step::kStart:
      Start(next_.Take(), now);
      return;
    case NextAttempt::Step::kInVain:
      EndWait(now);
      return;
  }
}

void Attempts::OnPaid(Instant now) {
  next_.OnPaid(now);
  Start(next_.Take(), now);
}

void Attempts::OnFirstInLine() {
  next_.OnFirstInLine();
  call_.WakeBy(next_.due());
}

void Attempts::OnWaitOver(Instant now) { ActOnNext(next_.OnDue(now), now); }

// Nothing has paid for the retry, which may have waited for that: the call ends as one that the
// budget refuses, unless other attempts of it are under way.
void Attempts::EndWait(Instant now) {
  const std::unique_ptr<UnpaidRetry> unpaid = next_.TakeUnpaid();
  if (WaitForOthers(RefusalReason::kBudget, now)) return;
  call_.EndExhausted(unpaid->failed, unpaid->outcome, RefusalReason::kBudget, now,
                     unpaid->waited ? &books_.record.waits.back() : nullptr);
}

// Whether the call goes on although this attempt is not followed by another: it is hedged.
bool Attempts::WaitForOthers(RefusalReason reason, Instant now) {
  const bool stopped = reason == RefusalReason::kPushback || reason == RefusalReason::kOverloadMark;
  if (stopped) CancelNext(WaitEnd::kCancelled, now);
  if (active_.empty() && !next_.scheduled()) return false;
  if (!next_.scheduled()) {
    books_.record.refused = reason;
    hedge_at_ = Instant::Infinite();
  }
  return true;
}

void Attempts::DropNext(WaitEnd end, Instant now) {
  if (shadow_ != nullptr) shadow_->OnDropped();
  next_.Drop(end, now);
}

}  // namespace levee
