// SPDX-License-Identifier: Apache-2.0
// Stability maps: where a system recovers by itself, and how they are told.
#include "lab/stability_map.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"
#include "lab/simulation.h"
#include "lab/simulation_html.h"
#include "lab/simulation_json.h"
#include "lab/simulation_text.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

// A service with room for hardly more than its load, which stands still for two seconds.
constexpr char kStorm[] =
    "duration: 40s\n"
    "clients:\n"
    "  - {name: web, calls: db/Get, load: {poisson: 90/s}, deadline: 1s, retries: 1}\n"
    "services: [{name: db, slots: 10, time: 100ms}]\n"
    "faults: [{at: 10s, for: 2s, service: db, capacity: 0}]\n"
    "compare: [no-sidecar, this]\n";

StabilityMap MapOf(const Scenario& scenario, MapAxis x, MapAxis y) {
  return MapStability(scenario, x, y, RulesOf(scenario), /*seed=*/1, [](int, int) {});
}

// Published pictures of this kind are drawn by hand (HotOS 2021, OSDI 2022).
TEST(StabilityMap, L2_LoadAndDepthOfAFaultDecideWhetherRetriesKeepItAndUnderLeveeTheyNeverDo) {
  const Scenario storm = ScenarioOf(kStorm);
  const StabilityMap map = MapOf(storm, MapAxis::kLoad, MapAxis::kCapacity);
  ASSERT_EQ(map.xs.size(), 8u);
  ASSERT_EQ(map.ys.size(), 10u);
  const StabilityMap::Rule& retries = map.rules.front();
  const StabilityMap::Rule& levee = map.rules.back();
  EXPECT_EQ(retries.name, "no-sidecar");
  EXPECT_EQ(levee.name, "this");
  EXPECT_EQ(retries.rows.front().front(), Stability::kRecovered);  // 36/s of 100
  EXPECT_EQ(retries.rows.front()[6], Stability::kStuck);           // the scenario itself
  EXPECT_EQ(retries.rows.back()[4], Stability::kRecovered);        // hardly a fault
  for (size_t y = 0; y < map.ys.size(); ++y) {
    for (size_t x = 0; x < 7; ++x) {  // up to the scenario's load
      EXPECT_NE(levee.rows[y][x], Stability::kStuck) << map.xs[x] << " " << map.ys[y];
    }
  }
}

TEST(StabilityMap, ALongerFaultLeavesAsMuchTimeToRecover) {
  const Scenario brief =
      ScenarioOf(absl::StrReplaceAll(kStorm, {{"duration: 40s", "duration: 24s"}}));
  const StabilityMap map = MapOf(brief, MapAxis::kFor, MapAxis::kLoad);
  // Eight seconds at 45/s take some six to make up for, which is what the scenario has left.
  EXPECT_NE(map.rules.back().rows[1].back(), Stability::kStuck);
  EXPECT_EQ(map.rules.front().rows[6].back(), Stability::kStuck);
}

TEST(StabilityMap, SlowIsWhatTakesLongerThanTheTroubleDid) {
  RunFigures figures;
  EXPECT_EQ(StabilityOf(figures, absl::Seconds(2)), Stability::kStuck);
  figures.recovery_s = 2;
  EXPECT_EQ(StabilityOf(figures, absl::Seconds(2)), Stability::kRecovered);
  figures.recovery_s = 2.5;
  EXPECT_EQ(StabilityOf(figures, absl::Seconds(2)), Stability::kSlow);
}

TEST(StabilityMap, WhatTheScenarioDoesNotHaveCannotBeVaried) {
  const std::string start = "duration: 9s\nclients: [{name: web, calls: db/Get, load: {even: 9/s";
  const std::string end = "}}]\nservices: [{name: db, slots: 1, time: 1ms}]\n";
  const Scenario calm = ScenarioOf(start + end);
  EXPECT_EQ(WhyNotVaried(calm, MapAxis::kLoad), "the scenario has no faults and no steps");
  EXPECT_EQ(WhyNotVaried(calm, MapAxis::kFor), "the scenario has no faults");
  const Scenario spike = ScenarioOf(start + ", steps: [{at: 1s, for: 1s, rate: 20/s}]" + end);
  EXPECT_EQ(WhyNotVaried(spike, MapAxis::kLoad), "");
  EXPECT_EQ(WhyNotVaried(spike, MapAxis::kCapacity), "no fault of the scenario has a capacity");
}

// A map whose cells are given, beside the figures of a short run.
Simulation Mapped() {
  const Scenario scenario = ScenarioOf(kStorm);
  Simulation simulation = Simulate("s", scenario, 1, 1);
  simulation.map = {MapAxis::kLoad, MapAxis::kCapacity, {0.5, 1}, {0, 0.25}, {}};
  simulation.map->rules.push_back(
      {"this",
       {{Stability::kSlow, Stability::kStuck}, {Stability::kRecovered, Stability::kRecovered}}});
  return simulation;
}

TEST(StabilityMap, IsToldInTextJsonAndHtml) {
  const Simulation simulation = Mapped();
  const std::string text = SimulationText(simulation);
  EXPECT_THAT(text, HasSubstr("  load (across) x capacity left (down)\n"));
  EXPECT_THAT(text, HasSubstr("\n  this: 1 of 4 runs stuck, 1 slow\n"));
  EXPECT_THAT(text, ContainsRegex("50% +100%\n +0% +~ +#\n +25% +\\. +\\.\n"));
  for (const auto line : absl::StrSplit(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(SimulationJson(simulation),
              AllOf(HasSubstr("\"x\": \"load\""), HasSubstr("\"x_values\": [0.5, 1]"),
                    ContainsRegex("\"y\": 0,[ \n]*\"cells\": \\[\"slow\", \"stuck\"\\]")));
  EXPECT_THAT(SimulationHtml(simulation),
              AllOf(HasSubstr("aria-label=\"stability under this, load (across) x capacity left "
                              "(down): 1 of 4 runs stuck, 1 slow\""),
                    HasSubstr("<rect class=\"stuck\"")));
}

TEST(StabilityMap, TheProgressIsToldToTheEndAndTheSameSeedGivesTheSameMap) {
  Scenario storm = ScenarioOf(kStorm);
  storm.compare.clear();
  int told = 0;
  const auto map = [&](int& done) {
    return MapStability(storm, MapAxis::kFor, MapAxis::kCapacity, RulesOf(storm), /*seed=*/3,
                        [&done](int now, int of) {
                          EXPECT_EQ(now, ++done);
                          EXPECT_EQ(of, 80);
                        });
  };
  const StabilityMap first = map(told);
  EXPECT_EQ(told, 80);
  int again = 0;
  EXPECT_EQ(map(again).rules.front().rows, first.rules.front().rows);
}

}  // namespace
}  // namespace levee
