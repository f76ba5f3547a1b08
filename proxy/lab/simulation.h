// SPDX-License-Identifier: Apache-2.0
// What a scenario does under several rules: the answer of `levee simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/run_record.h"
#include "lab/scenario.h"
#include "lab/stability_map.h"

namespace levee {

struct SimulatedRule {
  std::string name;
  RunFigures figures;  // if there are several seeds, the median of each
  int stuck = 0;       // seeds with which the system did not recover

  // With the first seed.
  RunTimeline timeline;
  std::vector<double> layers;     // the amplification of each service
  std::vector<double> latencies;  // the percentiles 1 to 99 of requests answered OK, in seconds;
                                  // empty: there were none
};

struct SimulatedExpectation {
  std::string text;
  bool ok = false;              // with every seed
  std::optional<double> value;  // with the seed that is the worst; none: there is no such value
};

struct Simulation {
  std::string name;  // of the scenario
  absl::Duration duration;
  std::vector<std::string> services;
  std::optional<Scenario::Span> trouble;
  uint64_t first_seed = 1;
  int seeds = 1;
  std::string verdict;                             // one or two sentences
  std::vector<SimulatedRule> rules;                // `this` is the last
  std::vector<SimulatedExpectation> expectations;  // of `this`
  std::vector<ShadowRecord> shadows;               // of `this`, with all seeds together
  std::optional<StabilityMap> map;                 // none: nobody has asked for it

  bool ok() const;
};

// Returns the rules under which the scenario runs: those that it names, once each, and `this` at
// last.
std::vector<CallerRule> RulesOf(const Scenario& scenario);

// Runs the scenario under each of its rules, and under `this`, with `seeds` seeds from `first_seed`
// on. `name`: for people.
Simulation Simulate(const std::string& name, const Scenario& scenario, uint64_t first_seed,
                    int seeds);

}  // namespace levee
