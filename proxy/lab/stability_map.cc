// SPDX-License-Identifier: Apache-2.0
#include "lab/stability_map.h"

#include <algorithm>
#include <array>

#include "lab/scenario_run.h"

namespace levee {
namespace {

constexpr std::array kAxes = {MapAxis::kLoad, MapAxis::kCapacity, MapAxis::kFor};

std::vector<double> ValuesOf(MapAxis axis) {
  switch (axis) {
    case MapAxis::kLoad:
      return {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1};
    case MapAxis::kCapacity:
      return {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    case MapAxis::kFor:
      return {0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};
  }
  return {};
}

void Vary(MapAxis axis, double value, Scenario& scenario) {
  switch (axis) {
    case MapAxis::kLoad:
      for (ScenarioClient& client : scenario.clients) {
        client.per_second *= value;
        for (ScenarioStep& step : client.steps) step.per_second *= value;
      }
      return;
    case MapAxis::kCapacity:
      for (ScenarioFault& fault : scenario.faults) {
        if (fault.capacity < 1) fault.capacity = value;
      }
      return;
    case MapAxis::kFor: {
      const absl::Duration end = scenario.Trouble()->end;
      for (ScenarioFault& fault : scenario.faults) fault.span *= value;
      // There is as much time to recover as in the scenario.
      scenario.duration += std::max(scenario.Trouble()->end - end, absl::ZeroDuration());
      return;
    }
  }
}

}  // namespace

const char* NameOf(MapAxis axis) {
  switch (axis) {
    case MapAxis::kLoad:
      return "load";
    case MapAxis::kCapacity:
      return "capacity";
    case MapAxis::kFor:
      return "for";
  }
  return "";
}

std::vector<std::string> MapAxisNames() {
  std::vector<std::string> names;
  for (const MapAxis axis : kAxes) names.emplace_back(NameOf(axis));
  return names;
}

std::optional<MapAxis> MapAxisOf(const std::string& name) {
  for (const MapAxis axis : kAxes) {
    if (name == NameOf(axis)) return axis;
  }
  return std::nullopt;
}

std::string WhyNotVaried(const Scenario& scenario, MapAxis axis) {
  const auto leaves_a_part = [](const ScenarioFault& fault) { return fault.capacity < 1; };
  if (axis == MapAxis::kCapacity &&
      std::none_of(scenario.faults.begin(), scenario.faults.end(), leaves_a_part)) {
    return "no fault of the scenario has a capacity";
  }
  if (axis == MapAxis::kFor && scenario.faults.empty()) return "the scenario has no faults";
  if (!scenario.Trouble().has_value()) return "the scenario has no faults and no steps";
  return "";
}

const char* NameOf(Stability stability) {
  switch (stability) {
    case Stability::kRecovered:
      return "recovered";
    case Stability::kSlow:
      return "slow";
    case Stability::kStuck:
      return "stuck";
  }
  return "";
}

Stability StabilityOf(const RunFigures& figures, absl::Duration trouble) {
  if (!figures.recovery_s.has_value()) return Stability::kStuck;
  return *figures.recovery_s > absl::ToDoubleSeconds(trouble) ? Stability::kSlow
                                                              : Stability::kRecovered;
}

StabilityMap MapStability(const Scenario& scenario, MapAxis x, MapAxis y,
                          const std::vector<CallerRule>& rules, uint64_t seed,
                          const std::function<void(int done, int of)>& progress) {
  StabilityMap map{.x = x, .y = y, .xs = ValuesOf(x), .ys = ValuesOf(y)};
  const auto all = static_cast<int>(rules.size() * map.xs.size() * map.ys.size());
  int done = 0;
  for (const CallerRule rule : rules) {
    StabilityMap::Rule& mapped = map.rules.emplace_back(StabilityMap::Rule{NameOf(rule), {}});
    for (const double row : map.ys) {
      std::vector<Stability>& cells = mapped.rows.emplace_back();
      for (const double column : map.xs) {
        Scenario cell = scenario;
        Vary(x, column, cell);
        Vary(y, row, cell);
        const Scenario::Span trouble = *cell.Trouble();
        cells.push_back(
            StabilityOf(RunScenario(cell, rule, seed).Figures(), trouble.end - trouble.begin));
        progress(++done, all);
      }
    }
  }
  return map;
}

}  // namespace levee
