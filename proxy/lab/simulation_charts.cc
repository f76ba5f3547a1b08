// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_charts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lab/svg_canvas.h"
#include "lab/words.h"

namespace levee {
namespace {

// As the canvas has it.
constexpr double kPlotLeft = 44;  // of the labels of rates
constexpr double kPlotRight = 352;
constexpr double kPlotTop = 12;
constexpr double kPlotBottom = 132;
constexpr double kHeight = 170;
constexpr double kLegend = 164;

// A picture with two axes, each from 0.
class Plot : public SvgCanvas {
 public:
  Plot(const std::string& label, double right, const std::string& right_label, double top,
       const std::string& top_label)
      : SvgCanvas(label, kHeight), right_(std::max(right, 1e-9)), top_(std::max(top, 1e-9)) {
    Line("axis", kPlotLeft, kPlotBottom, kPlotRight, kPlotBottom);
    Line("grid", kPlotLeft, kPlotTop, kPlotRight, kPlotTop);
    Text(kPlotLeft - 4, kPlotBottom + 4, "end", "0");
    Text(kPlotLeft - 4, kPlotTop + 4, "end", top_label);
    Text(kPlotRight, kPlotBottom + 14, "end", right_label);
  }

  void Shade(double from, double to) {
    const double left = X(from);
    Rect("trouble", left, kPlotTop, X(std::min(to, right_)) - left, kPlotBottom - kPlotTop);
  }

  void Curve(const char* kind, const std::vector<std::pair<double, double>>& values) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [x, y] : values) points.emplace_back(X(x), Y(y));
    Path(kind, points);
  }

  // Each count is drawn in the middle of its second.
  void Counts(const char* kind, const PerSecond& counts) {
    std::vector<std::pair<double, double>> values;
    for (size_t i = 0; i < counts.size(); ++i) {
      values.emplace_back(std::min(static_cast<double>(i) + 0.5, right_),
                          static_cast<double>(counts[i]));
    }
    Curve(kind, values);
  }

  void Legend(double x, const char* kind, const std::string& text) {
    Path(kind, {{x, kLegend - 4}, {x + 20, kLegend - 4}});
    Text(x + 25, kLegend, "start", text);
  }

 private:
  double X(double value) const { return kPlotLeft + (kPlotRight - kPlotLeft) * value / right_; }
  double Y(double value) const {
    return kPlotBottom - (kPlotBottom - kPlotTop) * std::min(value / top_, 1.0);
  }

  const double right_;
  const double top_;
};

Plot OverTime(const Simulation& simulation, const std::string& label, int64_t top) {
  Plot plot(label, absl::ToDoubleSeconds(simulation.duration), DurationWords(simulation.duration),
            static_cast<double>(top), absl::StrCat(top));
  if (simulation.trouble.has_value()) {
    plot.Shade(absl::ToDoubleSeconds(simulation.trouble->begin),
               absl::ToDoubleSeconds(simulation.trouble->end));
  }
  return plot;
}

// Where several rules share a picture, the scenario as it is written stands out.
const char* KindOf(const Simulation& simulation, size_t rule) {
  return rule + 1 == simulation.rules.size() ? "this" : "other";
}

void NameCurves(Plot& plot) {
  plot.Legend(kPlotLeft, "this", "this");
  plot.Legend(kPlotLeft + 90, "other", "the others");
}

}  // namespace

std::string TimelineChart(const Simulation& simulation, const SimulatedRule& rule, int64_t top) {
  Plot plot = OverTime(
      simulation, absl::StrCat("requests, attempts and good answers per second under ", rule.name),
      top);
  plot.Counts("answers", rule.timeline.answers);
  plot.Counts("attempts", rule.timeline.attempts);
  plot.Counts("requests", rule.timeline.requests);
  plot.Legend(kPlotLeft, "requests", "requests/s");
  plot.Legend(kPlotLeft + 106, "attempts", "attempts/s");
  plot.Legend(kPlotLeft + 212, "answers", "good/s");
  return plot.End();
}

std::string QueueChart(const Simulation& simulation) {
  int64_t top = 1;
  for (const SimulatedRule& rule : simulation.rules) {
    top = std::max(top, *std::max_element(rule.timeline.queue.begin(), rule.timeline.queue.end()));
  }
  Plot plot = OverTime(simulation, "calls that wait at services, under each rule", top);
  for (size_t i = 0; i < simulation.rules.size(); ++i) {
    plot.Counts(KindOf(simulation, i), simulation.rules[i].timeline.queue);
  }
  NameCurves(plot);
  return plot.End();
}

std::string LatencyChart(const Simulation& simulation) {
  double longest = 0;
  for (const SimulatedRule& rule : simulation.rules) {
    if (!rule.latencies.empty()) longest = std::max(longest, rule.latencies.back());
  }
  Plot plot("the share of good answers that come within a time, under each rule", longest,
            DurationWords(absl::Seconds(longest)), 100, "100%");
  for (size_t i = 0; i < simulation.rules.size(); ++i) {
    std::vector<std::pair<double, double>> values;
    double percent = 0;
    for (const double latency : simulation.rules[i].latencies) {
      values.emplace_back(latency, percent += 1);
    }
    plot.Curve(KindOf(simulation, i), values);
  }
  NameCurves(plot);
  return plot.End();
}

}  // namespace levee
