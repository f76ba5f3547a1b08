// SPDX-License-Identifier: Apache-2.0
// The policy that the calls of one method follow.
#pragma once

#include <memory>

#include "policy/retry_policy.h"

namespace levee {

// The meaning of a policy for one method. Every host makes it with PlanCalls, once per method, and
// gives it to each Call. Refers to the policy it was made of, which outlives it.
struct PlannedPolicy {
  const CallPolicy* policy = nullptr;  // RetryPolicyOfHedging of it if the calls are hedged
  const HedgePolicy* hedge = nullptr;  // not null: the calls are hedged
  bool idempotent = false;             // a call may be processed more than once

  std::unique_ptr<const CallPolicy> hedged;  // owns `policy` of calls that are hedged
};

// `described`: the upstream's descriptors say that the method is idempotent or has no side effects.
PlannedPolicy PlanCalls(const CallPolicy& policy, bool described);

}  // namespace levee
