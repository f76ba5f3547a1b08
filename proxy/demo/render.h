// SPDX-License-Identifier: Apache-2.0
// Draws the demo: pure functions from counts to text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "demo/run_record.h"

namespace levee::demo {

// No line of the demo is wider. A terminal needs one column more.
inline constexpr int kFrameColumns = 79;

// The numbers that both runs have in common.
struct Scene {
  double calls_per_second = 0;
  double service_per_second = 0;  // The capacity of the service.
  double failing = 0;             // The share that fails in the storm.
};

struct RunView {
  std::string name;  // "plain clients"
  const RunRecord* record = nullptr;
  std::optional<BudgetState> budget;
};

// Returns the live view for a terminal, line by line, with colours.
std::vector<std::string> Frame(const Scene& scene, const std::vector<RunView>& runs);

// Returns the last second of a run in one line, for output that is not a terminal.
std::string PlainLine(const RunView& run);

// Returns the final table, both runs side by side, and below it what its rows mean.
std::vector<std::string> Table(const Scene& scene, const RunRecord& plain, const RunRecord& levee);

}  // namespace levee::demo
