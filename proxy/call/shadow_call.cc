// SPDX-License-Identifier: Apache-2.0
#include "call/shadow_call.h"

#include <algorithm>

#include "policy/hedging.h"

namespace levee {
namespace {

// How late a timer of the call may be. An answer within that time after the shadow's own timer
// would have been due may have come before it.
constexpr absl::Duration kTimerLag = absl::Milliseconds(1);

}  // namespace

ShadowCall::ShadowCall(ShadowPlan& plan, LatencyEstimate& latency, int worker)
    : plan_(plan), latency_(latency), worker_(worker) {}

void ShadowCall::Begin(Instant start, Instant callers_deadline, bool stream, bool pays,
                       Instant now) {
  start_ = start;
  callers_deadline_ = callers_deadline;
  deadline_ = std::min(callers_deadline, start + policy().timeout);
  if (stream) OnStream();
  if (pays) plan_.budget->Deposit(worker_, now);
}

void ShadowCall::OnStream() {
  stream_ = true;
  deadline_ = std::min(callers_deadline_, start_ + policy().stream.timeout);
  timeout_at_ = Instant::Infinite();
}

// Returns the facts as they were under the shadow's policy at `at`, for a decision that is made
// later, at `now`. The budget must not see an earlier time than before, so the decision gets `now`,
// and the deadline and the start are moved by what has passed since `at`.
RetryFacts ShadowCall::FactsOf(const RetryFacts& facts, Instant at, Instant now) {
  RetryFacts own = facts;
  own.idempotent = plan_.calls.idempotent;
  own.deadline = deadline_ + (now - at);
  own.first_start = facts.first_start + (now - at);
  own.may_wait = false;
  own.expected = absl::ZeroDuration();
  if (policy().retry.min_remaining && !deadline_.is_infinite()) {
    own.expected = latency_.Quantile(0.5, now).value_or(absl::ZeroDuration());
  }
  return own;
}

bool ShadowCall::WantsRetry(const AttemptOutcome& outcome, const RetryFacts& own, Instant now) {
  const RetryDecision decision =
      DecideRetry(policy(), outcome, own, now, {plan_.random, backoff_, *plan_.budget, worker_});
  return decision.action == RetryDecision::Action::kRetry;
}

bool ShadowCall::WantsHedge(const RetryFacts& own, Instant now) {
  hedge_at_ = Instant::Infinite();
  return !RefuseHedge(policy(), own, now, *plan_.budget, worker_).has_value();
}

void ShadowCall::OnAttempt(std::optional<RetryTrigger> trigger, const RetryFacts& facts,
                           Instant now) {
  if (outcome_ != ShadowOutcome::kSame) return;
  if (trigger == RetryTrigger::kHedge) {
    RetryFacts own = FactsOf(facts, now, now);
    --own.attempts;  // without the one that has just started
    if (now < hedge_at_ || !WantsHedge(own, now)) outcome_ = ShadowOutcome::kFewer;
  } else if (trigger.has_value() && !wants_) {
    outcome_ = ShadowOutcome::kFewer;
  }
  decided_ = wants_ = false;
  const bool observes = policy().retry.mode == RetryMode::kObserve;
  timeout_at_ = observes || stream_ ? Instant::Infinite() : now + policy().retry.attempt_timeout;
  const bool may_hedge =
      plan_.calls.hedge != nullptr && facts.attempts < policy().retry.max_attempts;
  hedge_at_ = may_hedge ? now + HedgeDelay(*plan_.calls.hedge, latency_, now) : Instant::Infinite();
}

// Decides what the shadow would have done by now although the newest attempt has not ended.
void ShadowCall::LookAtTimes(const RetryFacts& facts, Instant now) {
  if (now > hedge_at_ + kTimerLag && hedge_at_ < timeout_at_ &&
      WantsHedge(FactsOf(facts, hedge_at_, now), now)) {
    outcome_ = ShadowOutcome::kMore;
  } else if (now > timeout_at_ + kTimerLag) {
    AttemptOutcome late;
    late.kind = AttemptOutcome::Kind::kTimeout;
    late.code = StatusCode::kDeadlineExceeded;
    Decide(late, FactsOf(facts, timeout_at_, now), now);
  }
}

// Decides how the newest attempt is followed.
void ShadowCall::Decide(const AttemptOutcome& outcome, const RetryFacts& own, Instant now) {
  timeout_at_ = hedge_at_ = Instant::Infinite();
  decided_ = true;
  wants_ = WantsRetry(outcome, own, now);
}

void ShadowCall::OnAnswer(const RetryFacts& facts, Instant now) {
  if (outcome_ != ShadowOutcome::kSame) return;
  LookAtTimes(facts, now);
  timeout_at_ = hedge_at_ = Instant::Infinite();
}

void ShadowCall::OnFailure(const AttemptOutcome& outcome, bool newest, const RetryFacts& facts,
                           Instant now) {
  using Kind = AttemptOutcome::Kind;
  if (outcome_ != ShadowOutcome::kSame) return;
  if (!newest) {
    wants_ = WantsRetry(outcome, FactsOf(facts, now, now), now);
    // As in the call: no hedge starts after a failure that no attempt follows.
    if (!wants_) hedge_at_ = Instant::Infinite();
    return;
  }
  // An attempt that reached no endpoint ends as that, also at its attempt_timeout.
  if (outcome.kind == Kind::kConnect) timeout_at_ = Instant::Infinite();
  LookAtTimes(facts, now);
  if (decided_ || outcome_ != ShadowOutcome::kSame) return;
  // An attempt that only the call's own policy gives up would have gone on.
  const bool goes_on = outcome.kind == Kind::kTimeout && now < timeout_at_;
  if (!goes_on) Decide(outcome, FactsOf(facts, now, now), now);
}

void ShadowCall::RecordEnd(const AttemptOutcome& outcome, int price, Instant now) {
  if (outcome_ != ShadowOutcome::kSame) return;
  const bool success = CountsAsSuccess(policy().retry, outcome, plan_.calls.idempotent);
  plan_.budget->RecordEnd(EndOf(outcome, success, price), now);
}

ShadowOutcome ShadowCall::End(const RetryFacts& facts, Instant now) {
  if (outcome_ != ShadowOutcome::kSame) return outcome_;
  LookAtTimes(facts, now);
  if (wants_) outcome_ = ShadowOutcome::kMore;
  return outcome_;
}

}  // namespace levee
