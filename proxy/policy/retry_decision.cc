#include "policy/retry_decision.h"

namespace levee {
namespace {

using Kind = AttemptOutcome::Kind;

RetryDecision Pass() { return {}; }

RetryDecision Refuse(RefusalReason reason) {
  RetryDecision decision;
  decision.action = RetryDecision::Action::kRefused;
  decision.reason = reason;
  return decision;
}

RetryDecision RetryNow(RetryTrigger trigger) {
  RetryDecision decision;
  decision.action = RetryDecision::Action::kRetry;
  decision.trigger = trigger;
  decision.transparent = true;
  return decision;
}

// Whether the call goes on with an immediate retry that the policy need not list.
bool IsTransparent(const AttemptOutcome& outcome, const RetryFacts& facts) {
  return outcome.kind == Kind::kUnsent ||
         (outcome.kind == Kind::kRefused && !facts.transparent_used);
}

// What a signal of the upstream forbids; nullopt if it leaves the decision to the policy. `wanted`:
// the outcome would be retried without it.
std::optional<RetryDecision> HonorMark(const AttemptOutcome& outcome, bool wanted) {
  if (!outcome.mark) return std::nullopt;
  const OverloadMark& mark = *outcome.mark;
  if (mark.signal == OverloadMark::Signal::kPushback) {
    // A39: an unlisted failure with a pushback is forwarded, nothing else.
    return wanted ? Refuse(RefusalReason::kPushback) : Pass();
  }
  // A63: a service mark ends the call as marked whatever the code, so that `hops` is counted.
  if (mark.scope == OverloadScope::kService) return Refuse(RefusalReason::kOverloadMark);
  if (wanted && !outcome.place.other_endpoint) return Refuse(RefusalReason::kOverloadMark);
  return std::nullopt;
}

// Reasons that hold for every retry, whatever its delay.
std::optional<RefusalReason> RefusalOfAnyRetry(const RetryFacts& facts) {
  if (!facts.replayable) return RefusalReason::kBuffer;
  return std::nullopt;
}

RetryDecision DecideTransparent(const AttemptOutcome& outcome, const RetryFacts& facts, Instant now,
                                RetryBudget& budget, int worker) {
  if (const auto reason = RefusalOfAnyRetry(facts)) return Refuse(*reason);
  if (now >= facts.deadline) return Refuse(RefusalReason::kDeadline);
  // A stream that never left Levee put no load on anybody; a refused one did, and a server that
  // sheds by refusing streams would see its load double if the second one were free.
  if (outcome.kind == Kind::kRefused && !budget.Withdraw(worker, now)) {
    return Refuse(RefusalReason::kBudget);
  }
  return RetryNow(RetryTrigger::kRefused);
}

std::optional<RefusalReason> RefusalByPolicy(const CallPolicy& policy,
                                             const AttemptOutcome& outcome,
                                             const RetryFacts& facts) {
  const bool surely_unprocessed = outcome.kind == Kind::kRefused || outcome.kind == Kind::kConnect;
  if (policy.idempotency == IdempotencyMode::kNever && !surely_unprocessed) {
    return RefusalReason::kNotIdempotent;
  }
  if (facts.attempts >= policy.retry.max_attempts) return RefusalReason::kMaxAttempts;
  return RefusalOfAnyRetry(facts);
}

// The delay that the server asks for, or the next one of the backoff; nullopt if the server asks
// for more than the policy grants.
std::optional<absl::Duration> NextDelay(const BackoffPolicy& policy, const Pushback& pushback,
                                        Random& random, Backoff& backoff) {
  if (pushback.kind != Pushback::Kind::kDelay) return backoff.Next(policy, random);
  if (pushback.delay > policy.max_advice) return std::nullopt;
  backoff.Restart();
  return pushback.delay;
}

}  // namespace

std::optional<RetryTrigger> Retryable(const RetryPolicy& policy, const AttemptOutcome& outcome,
                                      bool idempotent) {
  const RetryableFailures& failures = policy.failures;
  const auto if_listed = [](bool listed, RetryTrigger trigger) {
    return listed ? std::optional(trigger) : std::nullopt;
  };
  switch (outcome.kind) {
    case Kind::kStatus:
      return if_listed(outcome.code != StatusCode::kOk && policy.codes.Has(outcome.code),
                       RetryTrigger::kStatus);
    case Kind::kHttp:
      return if_listed(policy.codes.Has(outcome.code), RetryTrigger::kHttp);
    case Kind::kRefused:
      return if_listed(failures.refused, RetryTrigger::kRefused);
    case Kind::kConnect:
      return if_listed(failures.connect, RetryTrigger::kConnect);
    case Kind::kReset:
      return if_listed(failures.reset || idempotent, RetryTrigger::kReset);
    case Kind::kTimeout:
      return if_listed(failures.timeout || idempotent, RetryTrigger::kTimeout);
    case Kind::kUnsent:
      return RetryTrigger::kRefused;
  }
  return std::nullopt;
}

RetryDecision DecideRetry(const CallPolicy& policy, const AttemptOutcome& outcome,
                          const RetryFacts& facts, Instant now, Random& random, Backoff& backoff,
                          RetryBudget& budget, int worker) {
  if (outcome.kind == Kind::kStatus && outcome.code == StatusCode::kOk) return Pass();
  const bool transparent = IsTransparent(outcome, facts);
  const std::optional<RetryTrigger> trigger = Retryable(policy.retry, outcome, facts.idempotent);
  const bool wanted = transparent || trigger.has_value();
  if (facts.committed) return wanted ? Refuse(RefusalReason::kCommitted) : Pass();
  if (const auto decision = HonorMark(outcome, wanted)) return *decision;
  if (!wanted) return Pass();
  if (transparent) return DecideTransparent(outcome, facts, now, budget, worker);
  if (const auto reason = RefusalByPolicy(policy, outcome, facts)) return Refuse(*reason);

  const auto delay = NextDelay(policy.retry.backoff, outcome.pushback, random, backoff);
  if (!delay) return Refuse(RefusalReason::kAdvice);
  if (now + *delay >= facts.deadline) return Refuse(RefusalReason::kDeadline);
  // The budget comes last: a retry refused for any other reason costs nothing.
  if (!budget.Withdraw(worker, now)) return Refuse(RefusalReason::kBudget);

  RetryDecision decision;
  decision.action = RetryDecision::Action::kRetry;
  decision.delay = *delay;
  decision.backed_off = true;
  decision.trigger = *trigger;
  return decision;
}

}  // namespace levee
