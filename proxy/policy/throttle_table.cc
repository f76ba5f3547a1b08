// SPDX-License-Identifier: Apache-2.0
#include "policy/throttle_table.h"

#include <algorithm>

namespace levee {

ThrottleTable::ThrottleTable(int workers, int max_authorities)
    : workers_(workers),
      throttles_({.says = [](const AdaptiveThrottle& throttle,
                             Instant now) { return throttle.Probability(now) > 0; },
                  .made_up = [](const Key& key) { return !key.authority.empty(); },
                  .most = max_authorities}) {}

std::shared_ptr<AdaptiveThrottle> ThrottleTable::Get(const std::string& upstream,
                                                     const std::string& authority,
                                                     const ThrottlePolicy& policy, Instant now) {
  return throttles_.Get({upstream, authority, policy}, now,
                        [&] { return std::make_shared<AdaptiveThrottle>(policy, workers_); });
}

std::map<std::string, double> ThrottleTable::Probabilities(Instant now) const {
  std::map<std::string, double> probabilities;
  for (const auto& [key, throttle, held] : throttles_.All()) {
    double& largest = probabilities[key.upstream];
    largest = std::max(largest, throttle->Probability(now));
  }
  return probabilities;
}

}  // namespace levee
