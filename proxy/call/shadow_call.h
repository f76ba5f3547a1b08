// SPDX-License-Identifier: Apache-2.0
// A second policy of a route: it decides beside the policy that the calls follow, on the same
// facts, and does nothing. So a candidate can be watched on real calls before it is put in place.
#pragma once

#include <memory>
#include <optional>

#include "base/instant.h"
#include "base/random.h"
#include "call/plan.h"
#include "policy/backoff.h"
#include "policy/latency_estimate.h"
#include "policy/retry_budget.h"
#include "policy/retry_decision.h"
#include "wire/refusal.h"

namespace levee {

// The part that the shadows of all calls with one plan share. One thread.
struct ShadowPlan {
  PlannedPolicy calls;
  std::shared_ptr<RetryBudget> budget;  // of the destination; only shadows charge it
  Random random;                        // of its own, so that calls draw what they would without it
};

// The shadow of one call. It follows the call for as long as both policies want the same attempts.
// From the first difference on there are no facts to decide on, so the difference is its result.
// It knows retries, hedges, `attempt_timeout`, `timeout` and the budget of its policy. A retry that
// its budget does not pay for at once counts as one that is not made. One thread.
class ShadowCall {
 public:
  // Everything outlives it. `latency`: of the destination.
  ShadowCall(ShadowPlan& plan, LatencyEstimate& latency, int worker);

  // The call has been admitted, and its first attempt is to start. `callers_deadline`: as the
  // caller states it. `stream`: it is one from its start. `pays`: it is a call that pays for
  // retries.
  void Begin(Instant start, Instant callers_deadline, bool stream, bool pays, Instant now);

  // The call has turned out to be a stream.
  void OnStream();

  // The call has started an attempt. `trigger`: nullopt of the first.
  void OnAttempt(std::optional<RetryTrigger> trigger, const RetryFacts& facts, Instant now);

  // An attempt of the call begins to be the answer.
  void OnAnswer(const RetryFacts& facts, Instant now);

  // An attempt of the call failed. `newest`: no other was started after it.
  void OnFailure(const AttemptOutcome& outcome, bool newest, const RetryFacts& facts, Instant now);

  // An attempt of the call ended; before OnFailure. `price`: that was paid for it.
  void RecordEnd(const AttemptOutcome& outcome, int price, Instant now);

  // The call drops the attempt that it was to make next.
  void OnDropped() { wants_ = false; }

  // The call ends.
  ShadowOutcome End(const RetryFacts& facts, Instant now);

 private:
  const CallPolicy& policy() const { return *plan_.calls.policy; }
  RetryFacts FactsOf(const RetryFacts& facts, Instant at, Instant now);
  void LookAtTimes(const RetryFacts& facts, Instant now);
  void Decide(const AttemptOutcome& outcome, const RetryFacts& own, Instant now);
  bool WantsRetry(const AttemptOutcome& outcome, const RetryFacts& own, Instant now);
  bool WantsHedge(const RetryFacts& own, Instant now);

  ShadowPlan& plan_;
  LatencyEstimate& latency_;
  const int worker_;
  Backoff backoff_;
  ShadowOutcome outcome_ = ShadowOutcome::kSame;  // any other is final
  Instant start_;
  Instant callers_deadline_ = Instant::Infinite();
  Instant deadline_ = Instant::Infinite();
  bool stream_ = false;
  // Of the newest attempt; Infinite once it answers.
  Instant timeout_at_ = Instant::Infinite();
  Instant hedge_at_ = Instant::Infinite();
  bool decided_ = false;  // how the newest attempt is followed: `wants_`
  bool wants_ = false;    // another attempt
};

}  // namespace levee
