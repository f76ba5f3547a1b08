// SPDX-License-Identifier: Apache-2.0
// The configuration of the sidecar under the ledger.
#pragma once

#include <string>
#include <vector>

namespace levee::ledger {

// The tight budget of one of the policies; the others may retry as they like.
inline constexpr double kTightRatio = 0.2;
inline constexpr double kTightFloor = 10;  // per window
inline constexpr double kBudgetWindowSeconds = 10;

// Returns a configuration with `endpoints`. Every other `generation` lacks one of them and has some
// other numbers, as a reload brings them. Calls are logged to `access_log`.
std::string SidecarConfig(const std::vector<std::string>& endpoints, const std::string& access_log,
                          int generation);

}  // namespace levee::ledger
