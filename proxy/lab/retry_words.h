// SPDX-License-Identifier: Apache-2.0
// Sentences about delays, deadlines and the budget.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lab/delay_table.h"
#include "lab/outage.h"
#include "policy/retry_policy.h"

namespace levee {

// Says how the delays of a policy add up, and which attempts they leave no time for. `deadline` may
// be infinite.
std::vector<std::string> DelayWords(const DelayTable& table, const BackoffPolicy& backoff,
                                    int max_attempts, absl::Duration deadline);

// Says when further attempts of a hedged call begin.
std::vector<std::string> HedgeWords(const HedgePolicy& hedge, bool idempotent);

// Says what the budget allows, and what an outage sends under it.
std::vector<std::string> BudgetWords(const RetryPolicy& policy,
                                     const std::vector<OutageLoad>& loads);

}  // namespace levee
