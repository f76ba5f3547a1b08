// SPDX-License-Identifier: Apache-2.0
// The policy that the calls of one method follow.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "policy/retry_policy.h"

namespace levee {

// The meaning of a policy for one method. Every host makes it with PlanCalls, once per method, and
// gives it to each Call. Refers to the policy it was made of, which outlives it.
struct PlannedPolicy {
  // With the route's timeout, if that is smaller; RetryPolicyOfHedging of it if the calls are
  // hedged.
  const CallPolicy* policy = nullptr;
  const HedgePolicy* hedge = nullptr;  // not null: the calls are hedged
  bool idempotent = false;             // a call may be processed more than once

  std::unique_ptr<const CallPolicy> own;  // owns `policy` where that is not the one it was made of
};

// `described`: the upstream's descriptors say that the method is idempotent or has no side effects.
// `timeout`: of the calls' route.
PlannedPolicy PlanCalls(const CallPolicy& policy, bool described,
                        absl::Duration timeout = absl::InfiniteDuration());

}  // namespace levee
