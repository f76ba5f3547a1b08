// SPDX-License-Identifier: Apache-2.0
#include "lab/explain_charts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/svg_canvas.h"
#include "lab/words.h"

namespace levee {
namespace {

// As the canvas has it.
constexpr double kLeft = 56;  // of the labels of rows
constexpr double kRight = 350;
constexpr double kRow = 16;
constexpr double kTop = 18;  // of the scale

class Chart : public SvgCanvas {
 public:
  // `end`: the value at the right.
  Chart(const std::string& label, double height, double end)
      : SvgCanvas(label, height), end_(end) {}

  double X(double value) const { return kLeft + (kRight - kLeft) * value / end_; }

  void Scale(double value, const std::string& label, double height) {
    const char* anchor = value > end_ / 2 ? "end" : "start";
    Text(X(value), kTop - 6, anchor, label);
    Line("grid", X(value), kTop, X(value), height);
  }

 private:
  const double end_;
};

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

double PerCall(int64_t attempts, const OutageLoad& load) {
  return static_cast<double>(attempts) / static_cast<double>(load.calls);
}

}  // namespace

std::string DelayChart(const std::vector<DelayRow>& rows) {
  absl::Duration end;
  for (const DelayRow& row : rows) end = std::max(end, row.max);
  if (end == absl::ZeroDuration()) return "";
  const double height = kTop + kRow * static_cast<double>(rows.size()) + 20;
  Chart chart("the delay before each retry, from its least to its most", height, Seconds(end));
  const double bottom = height - 18;
  chart.Scale(0, "0", bottom);
  chart.Scale(Seconds(end), DurationWords(end), bottom);
  double y = kTop + kRow / 2;
  for (const DelayRow& row : rows) {
    chart.Text(kLeft - 8, y + 4, "end", absl::StrCat("retry ", row.n));
    chart.Line("bounds", chart.X(Seconds(row.min)), y, chart.X(Seconds(row.max)), y);
    chart.Rect("p99", chart.X(Seconds(row.p99)) - 1.5, y - 5, 3, 10);
    chart.Dot("median", chart.X(Seconds(row.p50)), y);
    y += kRow;
  }
  chart.Text(kLeft, height - 4, "start", "line: bounds, dot: p50, bar: p99");
  return chart.End();
}

std::string OutageChart(const std::vector<OutageLoad>& loads) {
  if (loads.empty()) return "";
  double end = 1;
  for (const OutageLoad& load : loads) end = std::max(end, PerCall(load.unbounded, load));
  const double height = kTop + 2 * kRow * static_cast<double>(loads.size()) + 20;
  Chart chart("attempts per call in an outage, with the budget and without it", height, end);
  const double bottom = height - 18;
  chart.Scale(0, "0", bottom);
  chart.Scale(end, absl::StrFormat("%.2f per call", end), bottom);
  double y = kTop;
  for (const OutageLoad& load : loads) {
    chart.Text(kLeft - 8, y + kRow + 2, "end",
               absl::StrCat(NumberWords(load.calls_per_second), "/s"));
    chart.Rect("with", kLeft, y + 4, chart.X(PerCall(load.attempts, load)) - kLeft, 9);
    chart.Rect("without", kLeft, y + 15, chart.X(PerCall(load.unbounded, load)) - kLeft, 9);
    y += 2 * kRow;
  }
  chart.Text(kLeft, height - 4, "start", "upper bar: with the budget, lower: without");
  return chart.End();
}

}  // namespace levee
