// SPDX-License-Identifier: Apache-2.0
// Where a scenario's system recovers by itself: its trouble, lighter and heavier, under each rule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/run_record.h"
#include "lab/scenario.h"

namespace levee {

// An axis says what changes from cell to cell.
enum class MapAxis {
  kLoad,      // the rates of all clients, as a share of the scenario's
  kCapacity,  // what is left in the faults that leave a part of the capacity
  kFor,       // the length of all faults, as a share of the scenario's
};

const char* NameOf(MapAxis axis);
std::vector<std::string> MapAxisNames();
// Returns the axis of that name; nullopt if there is none.
std::optional<MapAxis> MapAxisOf(const std::string& name);

// Returns why the scenario cannot be varied so; empty if it can.
std::string WhyNotVaried(const Scenario& scenario, MapAxis axis);

enum class Stability {
  kRecovered,
  kSlow,  // it takes longer to recover than the trouble lasted
  kStuck,
};

const char* NameOf(Stability stability);
Stability StabilityOf(const RunFigures& figures, absl::Duration trouble);

struct StabilityMap {
  struct Rule {
    std::string name;
    std::vector<std::vector<Stability>> rows;  // [y][x]
  };

  MapAxis x = MapAxis::kLoad;
  MapAxis y = MapAxis::kCapacity;
  std::vector<double> xs;
  std::vector<double> ys;
  std::vector<Rule> rules;
};

// Runs each cell once under each rule, with the seed: some 80 runs for each rule. The scenario can
// be varied along both axes, which differ. `progress` is told how many runs of how many are done.
StabilityMap MapStability(const Scenario& scenario, MapAxis x, MapAxis y,
                          const std::vector<CallerRule>& rules, uint64_t seed,
                          const std::function<void(int done, int of)>& progress);

}  // namespace levee
