// SPDX-License-Identifier: Apache-2.0
// Draws the overload that `levee demo --guard` shows: pure functions from counts to text.
#pragma once

#include <string>
#include <vector>

#include "demo/picture.h"

namespace levee::demo {

// The numbers that both runs have in common. All are per second.
struct GuardScene {
  double calm_calls = 0;
  double storm_calls = 0;
  double service = 0;  // The capacity of the service.
};

// Returns the live view for a terminal, line by line, with colours.
std::vector<std::string> GuardFrame(const GuardScene& scene, const std::vector<RunView>& runs);

// Returns the last second of a run in one line, for output that is not a terminal.
std::string GuardLine(const RunView& run);

// Returns the final table, both runs side by side, and below it what its rows mean.
std::vector<std::string> GuardTable(const GuardScene& scene, const RunRecord& without,
                                    const RunRecord& with);

}  // namespace levee::demo
