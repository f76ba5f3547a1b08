// SPDX-License-Identifier: Apache-2.0
// Draws the storm that `levee demo` shows: pure functions from counts to text.
#pragma once

#include <string>
#include <vector>

#include "demo/picture.h"

namespace levee::demo {

// The numbers that both runs have in common.
struct Scene {
  double calls_per_second = 0;
  double service_per_second = 0;  // The capacity of the service.
  double failing = 0;             // The share that fails in the storm.
};

// Returns the live view for a terminal, line by line, with colours.
std::vector<std::string> Frame(const Scene& scene, const std::vector<RunView>& runs);

// Returns the last second of a run in one line, for output that is not a terminal.
std::string PlainLine(const RunView& run);

// Returns the final table, both runs side by side, and below it what its rows mean.
std::vector<std::string> Table(const Scene& scene, const RunRecord& plain, const RunRecord& levee);

}  // namespace levee::demo
