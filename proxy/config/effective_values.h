// SPDX-License-Identifier: Apache-2.0
// The values of a part of the configuration, one by one, with where each comes from.
#pragma once

#include <string>
#include <vector>

namespace levee {

struct ReadConfig;

struct EffectiveValue {
  std::string path;   // "retry.max_attempts", from the part on
  std::string value;  // as YAML, in one line
  std::string from;   // Positions::OriginOf
};

// Returns the values of the policy of that index. `complete` is without fault and has its defaults.
std::vector<EffectiveValue> ListPolicyValues(const ReadConfig& complete, int policy);

}  // namespace levee
