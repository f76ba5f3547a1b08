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
constexpr double kChartLeft = 56;  // of the labels of rows
constexpr double kChartRight = 350;
constexpr double kChartRow = 16;
constexpr double kChartTop = 18;  // of the scale

class Chart : public SvgCanvas {
 public:
  // `end`: the value at the right.
  Chart(const std::string& label, double height, double end)
      : SvgCanvas(label, height), end_(end) {}

  double X(double value) const { return kChartLeft + (kChartRight - kChartLeft) * value / end_; }

  void Scale(double value, const std::string& label, double height) {
    const char* anchor = value > end_ / 2 ? "end" : "start";
    Text(X(value), kChartTop - 6, anchor, label);
    Line("grid", X(value), kChartTop, X(value), height);
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
  const double height = kChartTop + kChartRow * static_cast<double>(rows.size()) + 20;
  Chart chart("the delay before each retry, from its least to its most", height, Seconds(end));
  const double bottom = height - 18;
  chart.Scale(0, "0", bottom);
  chart.Scale(Seconds(end), DurationWords(end), bottom);
  double y = kChartTop + kChartRow / 2;
  for (const DelayRow& row : rows) {
    chart.Text(kChartLeft - 8, y + 4, "end", absl::StrCat("retry ", row.n));
    chart.Line("bounds", chart.X(Seconds(row.min)), y, chart.X(Seconds(row.max)), y);
    chart.Rect("p99", chart.X(Seconds(row.p99)) - 1.5, y - 5, 3, 10);
    chart.Dot("median", chart.X(Seconds(row.p50)), y);
    y += kChartRow;
  }
  chart.Text(kChartLeft, height - 4, "start", "line: bounds, dot: p50, bar: p99");
  return chart.End();
}

std::string OutageChart(const std::vector<OutageLoad>& loads) {
  if (loads.empty()) return "";
  double end = 1;
  for (const OutageLoad& load : loads) end = std::max(end, PerCall(load.unbounded, load));
  const double height = kChartTop + 2 * kChartRow * static_cast<double>(loads.size()) + 20;
  Chart chart("attempts per call in an outage, with the budget and without it", height, end);
  const double bottom = height - 18;
  chart.Scale(0, "0", bottom);
  chart.Scale(end, absl::StrFormat("%.2f per call", end), bottom);
  double y = kChartTop;
  for (const OutageLoad& load : loads) {
    chart.Text(kChartLeft - 8, y + kChartRow + 2, "end",
               absl::StrCat(NumberWords(load.calls_per_second), "/s"));
    chart.Rect("with", kChartLeft, y + 4, chart.X(PerCall(load.attempts, load)) - kChartLeft, 9);
    chart.Rect("without", kChartLeft, y + 15, chart.X(PerCall(load.unbounded, load)) - kChartLeft,
               9);
    y += 2 * kChartRow;
  }
  chart.Text(kChartLeft, height - 4, "start", "upper bar: with the budget, lower: without");
  return chart.End();
}

}  // namespace levee
