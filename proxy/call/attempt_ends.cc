// SPDX-License-Identifier: Apache-2.0
#include "call/attempt_ends.h"

#include <cstddef>

namespace levee {

void AttemptEnds::Tell(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now) {
  const CallPlanParts& plan = books_.plan;
  const bool success = CountsAsSuccess(plan.policy.retry, outcome, plan.idempotent);
  // How the retries would fare that a policy only observes is not known: as the attempts do, say.
  const int price = books_.Observes() ? 1 : attempt.price;
  plan.budget.RecordEnd(EndOf(outcome, success, price), now);
  if (shadow_ != nullptr) shadow_->RecordEnd(outcome, attempt.price, now);
  const bool passed_on = outcome.mark.has_value() && outcome.mark->scope == OverloadScope::kService;
  if (!passed_on) books_.host.JudgeAttempt(attempt.id, success);
  if (plan.waiting != nullptr) plan.waiting->OnEnd(success, now);
  if (plan.throttle != nullptr) TellThrottle(outcome, now);
  if (outcome.code != StatusCode::kResourceExhausted) return;
  const Instant start = books_.record.attempts[attempt.record].start;
  for (size_t i = 0; i < plan.rate_limits.size(); ++i) {
    plan.rate_limits[i]->OnOverloaded(books_.rate_keys[i], start, now);
  }
}

void AttemptEnds::TellThrottle(const AttemptOutcome& outcome, Instant now) {
  AdaptiveThrottle& throttle = *books_.plan.throttle;
  bool overload = false;
  if (outcome.code != StatusCode::kOk) {
    const OverloadSigns& signs = throttle.policy().on;
    // At the deadline the upstream may give the call up before this call's own timer is due.
    const bool late = now >= books_.callers_leave_from;
    overload = SaysOverload(signs, outcome) || (late && signs.timeout);
  }
  throttle.OnEnd(books_.plan.worker, overload, now);
}

}  // namespace levee
