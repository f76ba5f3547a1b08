// SPDX-License-Identifier: Apache-2.0
// Draws one run of the demo: two rows of columns below the names of its phases.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "demo/run_record.h"

namespace levee::demo {

// No line of the demo is wider. A terminal needs one column more.
inline constexpr int kFrameColumns = 79;

struct RunView {
  std::string name;  // "plain clients"
  const RunRecord* record = nullptr;
  std::optional<BudgetState> budget;
};

// The live numbers beside a picture are those of so long a time.
inline constexpr absl::Duration kNow = absl::Milliseconds(700);

struct PictureRow {
  // Returns how high a column is, from 0 to 1.
  std::function<double(const Rates&)> height;
  std::string text;  // To its right.
};

// How the picture of a run that has begun looks.
struct Picture {
  std::string calls;  // To the right of the phases' names.
  PictureRow upper;
  PictureRow lower;
  std::string below;
};

// Returns five lines, the first of which is the run's name.
std::vector<std::string> Draw(absl::string_view name, const RunRecord& record,
                              const Picture& picture);

// Returns as many lines for a run that has not begun.
std::vector<std::string> DrawComing(absl::string_view name);

// Returns a share in percent, green if it is good and red if it is not.
std::string PaintedPercent(double share, bool good);

inline double Percent(double share) { return 100 * share; }

}  // namespace levee::demo
