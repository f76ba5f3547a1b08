// What the demo shows: pure functions from what was counted to text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "demo/run_record.h"

namespace levee::demo {

// No line of a frame is wider; a terminal must have one column more.
inline constexpr int kFrameColumns = 79;

// What both runs have in common.
struct Scene {
  double calls_per_second = 0;
  double service_per_second = 0;  // What the service can do.
  double failing = 0;             // The share that fails in the storm.
};

struct RunView {
  std::string name;  // "plain clients"
  const RunRecord* record = nullptr;
  std::optional<BudgetState> budget;
};

// The live view, for a terminal: one line of text each, with colours.
std::vector<std::string> Frame(const Scene& scene, const std::vector<RunView>& runs);

// The last second of a run in one line, for everything that is no terminal.
std::string PlainLine(const Scene& scene, const RunView& run);

// The end of it: both runs side by side.
std::vector<std::string> Table(const Scene& scene, const RunRecord& plain, const RunRecord& levee);

}  // namespace levee::demo
