// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_decision.h"

#include <algorithm>

#include "policy/last_answer.h"

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

RetryDecision Retry(RetryTrigger trigger) {
  RetryDecision decision;
  decision.action = RetryDecision::Action::kRetry;
  decision.trigger = trigger;
  return decision;
}

// The entry of the policy that makes an outcome retryable, and the bounds of its next retry.
struct Listing {
  RetryTrigger trigger;
  int max_attempts;
  const BackoffPolicy& backoff;
};

RetryTrigger TriggerOf(Kind kind) {
  switch (kind) {
    case Kind::kStatus:
      return RetryTrigger::kStatus;
    case Kind::kHttp:
      return RetryTrigger::kHttp;
    case Kind::kConnect:
      return RetryTrigger::kConnect;
    case Kind::kReset:
      return RetryTrigger::kReset;
    case Kind::kTimeout:
      return RetryTrigger::kTimeout;
    case Kind::kRefused:
    case Kind::kUnsent:
      return RetryTrigger::kRefused;
  }
  return RetryTrigger::kStatus;
}

// Whether a RetryPolicy or a RetryRule names the outcome in its `codes`, `http` or `failures`.
template <typename Lists>
bool Names(const Lists& lists, const AttemptOutcome& outcome) {
  switch (outcome.kind) {
    case Kind::kStatus:
      return outcome.code != StatusCode::kOk && lists.codes.Has(outcome.code);
    case Kind::kHttp:
      return lists.http.Has(outcome.http_status) || lists.codes.Has(outcome.code);
    case Kind::kRefused:
      return lists.failures.refused;
    case Kind::kConnect:
      return lists.failures.connect;
    case Kind::kReset:
      return lists.failures.reset;
    case Kind::kTimeout:
      return lists.failures.timeout;
    case Kind::kUnsent:
      return false;  // It has no name: a stream that never left is always sent again.
  }
  return false;
}

// Whether another Levee says that its instance alone is overloaded, so that another endpoint may
// take the call at once.
bool IsForAnotherEndpoint(const AttemptOutcome& outcome) {
  return outcome.mark && outcome.mark->signal == OverloadMark::Signal::kLevee &&
         outcome.mark->scope == OverloadScope::kEndpoint;
}

// nullopt if the outcome is not retryable.
std::optional<Listing> FindListing(const RetryPolicy& policy, const AttemptOutcome& outcome,
                                   bool idempotent) {
  const RetryTrigger trigger = TriggerOf(outcome.kind);
  for (const RetryRule& rule : policy.rules) {
    if (Names(rule, outcome)) return Listing{trigger, rule.max_attempts, rule.backoff};
  }
  const bool maybe_processed = outcome.kind == Kind::kReset || outcome.kind == Kind::kTimeout;
  const bool unnamed = outcome.kind == Kind::kUnsent || (maybe_processed && idempotent) ||
                       IsForAnotherEndpoint(outcome);
  if (unnamed || Names(policy, outcome)) {
    return Listing{trigger, policy.max_attempts, policy.backoff};
  }
  return std::nullopt;
}

// Whether an immediate retry follows that the policy need not list.
bool IsTransparent(const AttemptOutcome& outcome, const RetryFacts& facts) {
  return outcome.kind == Kind::kUnsent ||
         (outcome.kind == Kind::kRefused && !facts.transparent_used);
}

// Returns the decision that a signal of the upstream forces; nullopt if the policy decides.
// `wanted`: the outcome would be retried without the signal.
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

// Whether an attempt that starts at `start` could hardly end before the deadline.
bool EndsTooLate(const RetryPolicy& policy, const RetryFacts& facts, Instant start) {
  const absl::Duration expected = policy.min_remaining ? facts.expected : absl::ZeroDuration();
  return start + expected >= facts.deadline;
}

// A stream that never left Levee is sent again. It is free of charge, because it put no load on the
// upstream. It is still the same attempt, so it is sent again under an observing policy too.
RetryDecision DecideUnsent(const RetryFacts& facts, Instant now) {
  if (!facts.replayable) return Refuse(RefusalReason::kBuffer);
  if (now >= facts.deadline) return Refuse(RefusalReason::kDeadline);
  RetryDecision decision = Retry(RetryTrigger::kRefused);
  decision.transparent = true;
  return decision;
}

// Whether the failure says that the upstream was away. Behind any other failure, which is load or
// the upstream's own advice, a retry that waits would add to the load.
bool SaysAway(const AttemptOutcome& outcome) {
  constexpr int kTooManyRequests = 429;
  return outcome.kind != Kind::kTimeout && outcome.code != StatusCode::kResourceExhausted &&
         outcome.code != StatusCode::kDeadlineExceeded && outcome.http_status != kTooManyRequests &&
         outcome.pushback.kind == Pushback::Kind::kNone && outcome.advice == absl::ZeroDuration() &&
         !outcome.mark.has_value();
}

// Whether a retry behind this failure may wait for a success. Without a ratio successes pay for
// nothing. An attempt that reached nothing has waited for a connection
// where that was promising, so its caller learns of the failure at once. `start`: when it is due.
bool MayWait(const RetryPolicy& policy, const AttemptOutcome& outcome, const RetryFacts& facts,
             Instant now, Instant start) {
  return facts.may_wait && outcome.kind != Kind::kConnect && policy.mode != RetryMode::kObserve &&
         policy.budget.wait > absl::ZeroDuration() && policy.budget.ratio > 0 &&
         SaysAway(outcome) && start < LastAnswer(facts.deadline, facts.expected, now);
}

// Says until when the call itself lets a retry wait.
void BoundWait(const RetryFacts& facts, absl::Duration max_elapsed, Instant now,
               RetryDecision& decision) {
  const Instant patience = facts.first_start + max_elapsed;
  const Instant last = LastAnswer(facts.deadline, facts.expected, now);
  decision.wait_until = std::min(patience, last);
  decision.wait_bounded = last < patience;
}

// Charges a retry that everything else allows, or lets it wait if it has a `wish`. The budget comes
// last: a retry refused for any other reason costs nothing. An observing policy charges it too; it
// would otherwise show more retries than an enforcing policy makes.
RetryDecision Charge(const RetryPolicy& policy, RetryDecision decision, const RetryFacts& facts,
                     std::optional<RetryBudget::Wish> wish, Instant now, const RetryMeans& means) {
  using Turn = RetryBudget::Turn;
  const bool timeout = decision.trigger == RetryTrigger::kTimeout;
  decision.price = timeout ? means.budget.PriceOfTimeout(facts.timeouts) : 1;
  Turn turn = Turn::kRefused;
  if (wish) {
    turn = means.budget.Ask(means.worker, *wish, now);
  } else if (means.budget.Withdraw(means.worker, now, decision.price)) {
    turn = Turn::kGo;
  }
  if (turn == Turn::kRefused) return Refuse(RefusalReason::kBudget);
  if (turn == Turn::kWait) decision.action = RetryDecision::Action::kWait;
  return policy.mode == RetryMode::kObserve ? Refuse(RefusalReason::kObserve) : decision;
}

// The one immediate retry of a refused stream. It is charged where streams are refused again and
// again: a server that sheds by refusing them would see its load double if the second one were
// free.
RetryDecision DecideRefusedStream(const RetryPolicy& policy, const AttemptOutcome& outcome,
                                  const RetryFacts& facts, Instant now, const RetryMeans& means) {
  if (!facts.replayable) return Refuse(RefusalReason::kBuffer);
  if (EndsTooLate(policy, facts, now)) return Refuse(RefusalReason::kDeadline);
  RetryDecision decision = Retry(RetryTrigger::kRefused);
  decision.transparent = true;
  if (outcome.leaving || !means.budget.RefusesStreams()) {
    return policy.mode == RetryMode::kObserve ? Refuse(RefusalReason::kObserve) : decision;
  }
  BoundWait(facts, policy.backoff.max_elapsed, now, decision);
  std::optional<RetryBudget::Wish> wish;
  if (MayWait(policy, outcome, facts, now, now)) wish = {.first_failed = facts.first_failed};
  return Charge(policy, decision, facts, wish, now, means);
}

// Whether a guard made the mark, before its service saw the call. Other marks may stand for a call
// that was tried further down.
bool IsOfGuard(const OverloadMark& mark) {
  return mark.reason == GuardReasonName(GuardReason::kConcurrency) ||
         mark.reason == GuardReasonName(GuardReason::kQueue);
}

// Returns the reason that forbids a retry after any delay.
std::optional<RefusalReason> RefusalOfAnyDelay(const CallPolicy& policy, const Listing& listing,
                                               const AttemptOutcome& outcome,
                                               const RetryFacts& facts) {
  const bool surely_unprocessed = outcome.kind == Kind::kRefused ||
                                  outcome.kind == Kind::kConnect ||
                                  (IsForAnotherEndpoint(outcome) && IsOfGuard(*outcome.mark));
  if (policy.idempotency == IdempotencyMode::kNever && !surely_unprocessed) {
    return RefusalReason::kNotIdempotent;
  }
  if (facts.attempts >= listing.max_attempts) return RefusalReason::kMaxAttempts;
  if (!facts.replayable) return RefusalReason::kBuffer;
  return std::nullopt;
}

// Returns the reason that forbids a retry after `delay`.
std::optional<RefusalReason> RefusalOfDelay(const CallPolicy& policy, const Listing& listing,
                                            const RetryFacts& facts, Instant now,
                                            absl::Duration delay) {
  const Instant start = now + delay;
  if (start - facts.first_start > listing.backoff.max_elapsed) return RefusalReason::kMaxElapsed;
  if (EndsTooLate(policy.retry, facts, start)) return RefusalReason::kDeadline;
  return std::nullopt;
}

// The delay that the server asks for, or the next one of the backoff; nullopt if the server asks
// for more than the policy grants.
std::optional<absl::Duration> NextDelay(const BackoffPolicy& policy, const AttemptOutcome& outcome,
                                        Random& random, Backoff& backoff) {
  if (IsForAnotherEndpoint(outcome)) return absl::ZeroDuration();
  const bool pushed_back = outcome.pushback.kind == Pushback::Kind::kDelay;
  const absl::Duration asked = pushed_back ? outcome.pushback.delay : outcome.advice;
  // Advice without end is above every max_advice, also above `none`.
  if (asked > policy.max_advice || asked == absl::InfiniteDuration()) return std::nullopt;
  if (pushed_back) {
    backoff.Restart();
    return asked;
  }
  if (asked > absl::ZeroDuration()) return backoff.NextAfterAdvice(policy, asked, random);
  return backoff.Next(policy, random);
}

}  // namespace

std::optional<RetryTrigger> Retryable(const RetryPolicy& policy, const AttemptOutcome& outcome,
                                      bool idempotent) {
  const std::optional<Listing> listing = FindListing(policy, outcome, idempotent);
  return listing ? std::optional(listing->trigger) : std::nullopt;
}

bool SaysOverload(const OverloadSigns& signs, const AttemptOutcome& outcome) {
  // A negative pushback alone may mean that the failure is permanent.
  const bool marked = outcome.mark && outcome.mark->scope == OverloadScope::kService &&
                      outcome.mark->signal != OverloadMark::Signal::kPushback;
  return (signs.mark && marked) || (signs.timeout && outcome.kind == Kind::kTimeout) ||
         (signs.resource_exhausted && outcome.code == StatusCode::kResourceExhausted) ||
         (signs.unavailable && outcome.code == StatusCode::kUnavailable);
}

bool CountsAsSuccess(const RetryPolicy& policy, const AttemptOutcome& outcome, bool idempotent) {
  if (outcome.kind != Kind::kStatus) return false;
  if (outcome.code == StatusCode::kOk) return true;
  return !outcome.mark.has_value() && !Retryable(policy, outcome, idempotent).has_value();
}

AttemptEnd EndOf(const AttemptOutcome& outcome, bool success, int price) {
  return {.success = success,
          .timeout = outcome.kind == Kind::kTimeout,
          .refused_stream = outcome.kind == Kind::kRefused && !outcome.leaving,
          .price = price};
}

RetryDecision DecideRetry(const CallPolicy& policy, const AttemptOutcome& outcome,
                          const RetryFacts& facts, Instant now, const RetryMeans& means) {
  if (outcome.kind == Kind::kStatus && outcome.code == StatusCode::kOk) return Pass();
  const bool transparent = IsTransparent(outcome, facts);
  const std::optional<Listing> listing = FindListing(policy.retry, outcome, facts.idempotent);
  const bool wanted = transparent || listing.has_value();
  if (facts.answered) return wanted ? Refuse(RefusalReason::kCommitted) : Pass();
  if (const auto decision = HonorMark(outcome, wanted)) return *decision;
  if (!wanted) return Pass();
  if (facts.inbound && !transparent) return Pass();
  if (outcome.kind == Kind::kUnsent) return DecideUnsent(facts, now);
  if (transparent) {
    const auto decision = DecideRefusedStream(policy.retry, outcome, facts, now, means);
    const bool refused = decision.action == RetryDecision::Action::kRefused;
    return refused && facts.inbound ? Pass() : decision;
  }

  if (const auto reason = RefusalOfAnyDelay(policy, *listing, outcome, facts)) {
    return Refuse(*reason);
  }
  const auto delay = NextDelay(listing->backoff, outcome, means.random, means.backoff);
  if (!delay) return Refuse(RefusalReason::kAdvice);
  if (const auto reason = RefusalOfDelay(policy, *listing, facts, now, *delay)) {
    return Refuse(*reason);
  }
  RetryDecision decision = Retry(listing->trigger);
  decision.delay = *delay;
  decision.backed_off = !IsForAnotherEndpoint(outcome);
  BoundWait(facts, listing->backoff.max_elapsed, now, decision);
  std::optional<RetryBudget::Wish> wish;
  if (MayWait(policy.retry, outcome, facts, now, now + *delay)) {
    const bool last = facts.attempts >= 2 && facts.attempts + 1 >= listing->max_attempts;
    wish = {.first_failed = facts.first_failed, .last = last};
  }
  return Charge(policy.retry, decision, facts, wish, now, means);
}

}  // namespace levee
