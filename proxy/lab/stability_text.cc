// SPDX-License-Identifier: Apache-2.0
#include "lab/stability_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lab/svg_canvas.h"
#include "lab/text_layout.h"
#include "lab/words.h"

namespace levee {
namespace {

// As the canvas has it.
constexpr double kMapLeft = 44;  // of the cells
constexpr double kMapRight = 352;
constexpr double kMapTop = 6;
constexpr double kMapRow = 15;

const char* SignOf(Stability stability) {
  switch (stability) {
    case Stability::kRecovered:
      return ".";
    case Stability::kSlow:
      return "~";
    case Stability::kStuck:
      return "#";
  }
  return "";
}

const char* Name(MapAxis axis) {
  switch (axis) {
    case MapAxis::kLoad:
      return "load";
    case MapAxis::kCapacity:
      return "capacity left";
    case MapAxis::kFor:
      return "length of the faults";
  }
  return "";
}

int64_t CountOf(const StabilityMap::Rule& rule, Stability stability) {
  int64_t count = 0;
  for (const auto& row : rule.rows) count += std::count(row.begin(), row.end(), stability);
  return count;
}

void Legend(SvgCanvas& canvas, double x, double y, Stability stability) {
  canvas.Rect(NameOf(stability), x, y - 10, 14, 12);
  canvas.Text(x + 7, y, "middle", SignOf(stability));
  canvas.Text(x + 19, y, "start", NameOf(stability));
}

}  // namespace

std::string StabilityWords(const StabilityMap& map, const StabilityMap::Rule& rule) {
  return absl::StrCat(CountOf(rule, Stability::kStuck), " of ", map.xs.size() * map.ys.size(),
                      " runs stuck, ", CountOf(rule, Stability::kSlow), " slow");
}

std::string AxesWords(const StabilityMap& map) {
  return absl::StrCat(Name(map.x), " (across) x ", Name(map.y), " (down)");
}

std::string StabilityText(const StabilityMap& map) {
  std::string text = absl::StrCat("  ", AxesWords(map),
                                  "\n  . recovered  ~ slow: longer than the trouble  # stuck\n");
  for (const StabilityMap::Rule& rule : map.rules) {
    absl::StrAppend(&text, "\n  ", rule.name, ": ", StabilityWords(map, rule), "\n");
    std::vector<std::vector<std::string>> rows(1);
    rows.front().emplace_back();
    for (const double x : map.xs) rows.front().push_back(PercentWords(x));
    for (size_t y = 0; y < map.ys.size(); ++y) {
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(PercentWords(map.ys[y]));
      for (const Stability cell : rule.rows[y]) row.emplace_back(SignOf(cell));
    }
    AppendTable(rows, /*numbers=*/true, text);
  }
  return text;
}

std::string StabilityChart(const StabilityMap& map, const StabilityMap::Rule& rule) {
  const double width = (kMapRight - kMapLeft) / static_cast<double>(map.xs.size());
  const double bottom = kMapTop + kMapRow * static_cast<double>(map.ys.size());
  SvgCanvas canvas(absl::StrCat("stability under ", rule.name, ", ", AxesWords(map), ": ",
                                StabilityWords(map, rule)),
                   bottom + 40);
  for (size_t y = 0; y < map.ys.size(); ++y) {
    const double top = kMapTop + kMapRow * static_cast<double>(y);
    canvas.Text(kMapLeft - 4, top + kMapRow - 4, "end", PercentWords(map.ys[y]));
    for (size_t x = 0; x < map.xs.size(); ++x) {
      const double left = kMapLeft + width * static_cast<double>(x);
      const Stability cell = rule.rows[y][x];
      canvas.Rect(NameOf(cell), left + 0.5, top + 0.5, width - 1, kMapRow - 1);
      canvas.Text(left + width / 2, top + kMapRow - 4, "middle", SignOf(cell));
    }
  }
  for (size_t x = 0; x < map.xs.size(); ++x) {
    const double middle = kMapLeft + width * (static_cast<double>(x) + 0.5);
    canvas.Text(middle, bottom + 13, "middle", PercentWords(map.xs[x]));
  }
  Legend(canvas, kMapLeft, bottom + 34, Stability::kRecovered);
  Legend(canvas, kMapLeft + 106, bottom + 34, Stability::kSlow);
  Legend(canvas, kMapLeft + 212, bottom + 34, Stability::kStuck);
  return canvas.End();
}

}  // namespace levee
