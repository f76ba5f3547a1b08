// SPDX-License-Identifier: Apache-2.0
#include "demo/picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace levee::demo {
namespace {

constexpr int kCells = 44;  // Of a row.
constexpr absl::string_view kIndent = "  ";

constexpr absl::string_view kBold = "\x1b[1m";
constexpr absl::string_view kDim = "\x1b[2m";
constexpr absl::string_view kRed = "\x1b[31m";
constexpr absl::string_view kGreen = "\x1b[32m";
constexpr absl::string_view kPlain = "\x1b[0m";

std::string Paint(absl::string_view style, absl::string_view text) {
  return absl::StrCat(style, text, kPlain);
}

// Returns one column, filled to `share` of its height.
absl::string_view Column(double share) {
  constexpr absl::string_view kColumns[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const long step = std::lround(std::clamp(share, 0.0, 1.0) * 7);
  return kColumns[step];
}

// Returns the run so far as columns from left to right.
std::string Columns(const RunRecord& record, const PictureRow& row) {
  std::string columns;
  const absl::Duration width = record.schedule().length() / kCells;
  for (int cell = 0; cell < kCells; ++cell) {
    const absl::Duration end = (cell + 1) * width;
    const bool known = end <= record.length();
    absl::StrAppend(&columns, known ? Column(row.height(record.Over(end - width, end))) : " ");
  }
  return columns;
}

// Returns the phases' names above their parts of the picture.
std::string Ruler(const Schedule& schedule) {
  std::string ruler;
  int begin = 0;
  absl::Duration end = absl::ZeroDuration();
  for (const auto& [phase, length] : {std::pair{Phase::kCalm, schedule.calm},
                                      {Phase::kStorm, schedule.storm},
                                      {Phase::kRecovery, schedule.recovery}}) {
    end += length;
    const int cell =
        static_cast<int>(std::lround(absl::FDivDuration(end, schedule.length()) * kCells));
    const auto width = static_cast<size_t>(cell - begin);
    std::string part(PhaseName(phase).substr(0, width));
    while (part.size() < width) part += part.size() + 1 < width ? '-' : ' ';
    absl::StrAppend(&ruler, Paint(phase == Phase::kStorm ? kRed : kDim, part));
    begin = cell;
  }
  return ruler;
}

}  // namespace

std::vector<std::string> Draw(absl::string_view name, const RunRecord& record,
                              const Picture& picture) {
  return {
      Paint(kBold, name),
      absl::StrCat(kIndent, Ruler(record.schedule()), kIndent, picture.calls),
      absl::StrCat(kIndent, Columns(record, picture.upper), kIndent, picture.upper.text),
      absl::StrCat(kIndent, Columns(record, picture.lower), kIndent, picture.lower.text),
      absl::StrCat(kIndent, picture.below),
  };
}

std::vector<std::string> DrawComing(absl::string_view name) {
  return {Paint(kBold, name), absl::StrCat(kIndent, Paint(kDim, "comes next")), "", "", ""};
}

std::string PaintedPercent(double share, bool good) {
  return Paint(good ? kGreen : kRed, absl::StrFormat("%4.0f%%", Percent(share)));
}

}  // namespace levee::demo
