// SPDX-License-Identifier: Apache-2.0
#include "lab/outage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "call/plan.h"
#include "policy/retry_decision.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"
#include "sim/workload.h"

namespace levee {
namespace {

constexpr absl::Duration kOutage = absl::Seconds(kOutageSeconds);

// The budget's window is full of calls, unless it is longer than this.
constexpr absl::Duration kLongestCalm = absl::Seconds(20);

using SecondCounts = std::array<int64_t, kOutageSeconds>;

// Returns the policy with a budget that never refuses anything.
CallPolicy WithoutBudget(CallPolicy policy) {
  policy.retry.budget = {.ratio = 0,
                         .window = absl::Seconds(1),
                         .floor_per_second = 1e6,
                         .floor_min_success = 0,
                         .wait = absl::ZeroDuration()};
  return policy;
}

// Whether a second attempt follows the first, or would if the policy did not merely observe.
bool IsRetried(const PlannedPolicy& planned, const AttemptOutcome& outcome) {
  const CallPolicy policy = WithoutBudget(*planned.policy);
  Random random(1);
  Backoff backoff;
  RetryBudget budget(policy.retry.budget, /*workers=*/1);
  const RetryDecision decision = DecideRetry(policy, outcome, {.idempotent = planned.idempotent},
                                             SimClock::Start(), {random, backoff, budget, 0});
  return decision.action == RetryDecision::Action::kRetry ||
         (decision.action == RetryDecision::Action::kRefused &&
          decision.reason == RefusalReason::kObserve);
}

// Returns an answer that fails at once and that the policy retries.
std::optional<Answer> RetriedFailure(const PlannedPolicy& planned) {
  constexpr absl::Duration kAtOnce = absl::Milliseconds(1);
  if (IsRetried(planned, {.code = StatusCode::kUnavailable})) {
    return TrailersOnly(StatusCode::kUnavailable);
  }
  for (int code = 1; code < kStatusCodes; ++code) {
    const auto status = static_cast<StatusCode>(code);
    if (IsRetried(planned, {.code = status})) return TrailersOnly(status);
  }
  if (IsRetried(planned,
                {.kind = AttemptOutcome::Kind::kConnect, .code = StatusCode::kUnavailable})) {
    return Answer().CannotConnect(kAtOnce);
  }
  for (int status = 400; status < 600; ++status) {
    const AttemptOutcome http = {
        .kind = AttemptOutcome::Kind::kHttp, .code = StatusFromHttp(status), .http_status = status};
    if (IsRetried(planned, http)) return Answer().Http(kAtOnce, status);
  }
  return std::nullopt;
}

// One upstream behind one sidecar, in good order and then in an outage.
class OutageRun {
 public:
  OutageRun(const CallPolicy& policy, bool idempotent, const Answer& failure)
      : sidecar_(clock_, policy), failure_(failure) {
    sidecar_.idempotent = idempotent;
    sidecar_.AddEndpoint([this](SimHost&, AttemptId) { return Attempt(); });
  }

  OutageLoad Simulate(double calls_per_second, absl::Duration deadline) {
    const absl::Duration calm = std::min(sidecar_.policy.retry.budget.window, kLongestCalm);
    const double seconds = absl::ToDoubleSeconds(calm + kOutage);
    BeginWorkload(sidecar_, {.per_second = calls_per_second,
                             .calls = std::llround(calls_per_second * seconds),
                             .facts = [this, deadline](int64_t) { return Call(deadline); }});
    // The first call comes at the beginning; so this one ends before the outage's first.
    clock_.RunFor(calm - absl::Microseconds(1));
    OutageLoad load = {.calls_per_second = calls_per_second};
    const RetryBudget::State budget = sidecar_.budget().Read(clock_.now());
    load.allowed = budget.limit;
    load.at_once = budget.available;
    begun_ = clock_.elapsed();
    clock_.RunFor(kOutage);
    for (size_t i = 0; i < kOutageSeconds; ++i) {
      load.calls += calls_[i];
      load.attempts += attempts_[i];
      if (calls_[i] == 0) continue;
      const double per_call = static_cast<double>(attempts_[i]) / static_cast<double>(calls_[i]);
      load.worst_second = std::max(load.worst_second, per_call);
    }
    return load;
  }

 private:
  RequestFacts Call(absl::Duration deadline) {
    Count(calls_);
    return {.timeout = deadline};
  }

  Answer Attempt() { return Count(attempts_) ? failure_ : Ok(); }

  // Returns whether the outage has begun.
  bool Count(SecondCounts& counts) {
    if (!begun_.has_value()) return false;
    const auto second = static_cast<size_t>((clock_.elapsed() - *begun_) / absl::Seconds(1));
    if (second < counts.size()) ++counts[second];
    return true;
  }

  SimClock clock_;
  SimSidecar sidecar_;
  const Answer failure_;
  std::optional<absl::Duration> begun_;  // the outage
  SecondCounts calls_ = {};
  SecondCounts attempts_ = {};
};

}  // namespace

std::optional<OutageLoad> SimulateOutage(const CallPolicy& policy, bool idempotent,
                                         absl::Duration deadline, double calls_per_second) {
  CallPolicy unlimited = policy;
  unlimited.rate_limits.clear();
  const std::optional<Answer> failure = RetriedFailure(PlanCalls(unlimited, idempotent));
  if (!failure.has_value()) return std::nullopt;
  OutageLoad load = OutageRun(unlimited, idempotent, *failure).Simulate(calls_per_second, deadline);
  load.unbounded = OutageRun(WithoutBudget(unlimited), idempotent, *failure)
                       .Simulate(calls_per_second, deadline)
                       .attempts;
  return load;
}

}  // namespace levee
