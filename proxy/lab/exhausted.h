// SPDX-License-Identifier: Apache-2.0
// What callers get when retrying ends without success.
#pragma once

#include <string>
#include <vector>

#include "policy/retry_policy.h"

namespace levee {

// Refusals that are answered alike.
struct ExhaustedRow {
  std::vector<std::string>
      why;             // labels of levee_retries_refused_total, with what tells them apart
  std::string answer;  // half a sentence
};

// Returns the table of the policy, as the product's own AnswerWhenExhausted has it.
std::vector<ExhaustedRow> TabulateExhausted(ExhaustedMode mode, const OverloadPolicy& overload);

}  // namespace levee
