// SPDX-License-Identifier: Apache-2.0
// The scenarios of config/scenarios: what their sources found comes out, and what they expect
// holds.
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "config/load.h"
#include "config/read_file.h"
#include "files/source_path.h"
#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"
#include "lab/scenario_run.h"
#include "lab/simulation.h"
#include "lab/simulation_text.h"

namespace levee {
namespace {

std::string Ready(const std::string& name) {
  const absl::StatusOr<std::string> text =
      ReadFile(SourcePath("config/scenarios/" + name + ".yaml"), 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *text : "";
}

Simulation ReadySimulation(const std::string& name, int seeds = 1) {
  return Simulate(name, ScenarioOf(Ready(name)), /*first_seed=*/1, seeds);
}

// Bronson and others found the first at HotOS 2021.
TEST(ReadyScenarios, L2_ARetryKeepsADatabaseDownAndLeveeLetsItRecover) {
  const Simulation simulation = ReadySimulation("hotos21-metastable", /*seeds=*/5);
  EXPECT_EQ(simulation.rules[0].name, "no-sidecar");
  EXPECT_EQ(simulation.rules[0].stuck, 5);
  EXPECT_EQ(simulation.rules[1].name, "no-retries");
  EXPECT_EQ(simulation.rules[1].stuck, 0);
  EXPECT_EQ(simulation.rules[2].stuck, 0);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(ReadyScenarios, L2_ThreeLayersMake64AttemptsAndLeveeHardlyMoreThanOne) {
  const Simulation simulation = ReadySimulation("sre-layers");
  EXPECT_EQ(simulation.rules[0].name, "no-sidecar");
  EXPECT_NEAR(simulation.rules[0].figures.worst_second, 64, 5);  // Seconds cut requests in two.
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(ReadyScenarios, OneBadEndpointIsAvoidedByLeveeAlone) {
  const Simulation simulation = ReadySimulation("one-bad-endpoint");
  EXPECT_EQ(simulation.verdict,
            "The system recovers as the trouble ends, with 1.00 attempts per call.");
  EXPECT_LT(simulation.rules[0].figures.success, 0.95);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(ReadyScenarios, TwoBadEndpointsOfThreeAreAvoidedByLeveeAlone) {
  const Simulation simulation = ReadySimulation("two-bad-endpoints");
  EXPECT_LT(simulation.rules[0].figures.success, 0.85);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(SimulationAverages, L4_TenThousandSidecarsThatKnowNothingOfEachOtherStayBounded) {
  Scenario fleet = ScenarioOf(Ready("fleet-10000"));
  fleet.compare.clear();
  const Simulation simulation = Simulate("fleet-10000", fleet, 1, 1);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
  rusage used;
  ASSERT_EQ(getrusage(RUSAGE_SELF, &used), 0);
  EXPECT_LT(used.ru_maxrss, 2 << 20) << "KiB";
}

// The clients' retries are made by a sidecar that waits as those of Brooker's second run, and that
// nothing else holds back.
Scenario WithBackoff(std::string text) {
  const auto config =
      *ParseConfig("f",
                   "policies:\n"
                   "  - name: default\n"
                   "    idempotency: {mode: always}\n"
                   "    throttle: none\n"
                   "    retry:\n"
                   "      {max_attempts: 3, failures: [timeout], attempt_timeout: 3s,\n"
                   "       budget: {ratio: 1000, burst: {least: 1000000}, wait: none},\n"
                   "       min_remaining: off, backoff: {initial: 20s, max: 40s}}\n");
  text =
      absl::StrReplaceAll(text, {{"deadline: 3s", "deadline: none"}, {"retries: 2", "retries: 0"}});
  CheckedScenario checked = CheckScenario({"s", text}, config);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return std::move(checked.scenario);
}

TEST(ReadyScenarios, L2_FiveBusySecondsCollapseWithoutABackoffAndRecoverWithOneAndWithLevee) {
  const Simulation simulation = ReadySimulation("brooker-collapse", /*seeds=*/5);
  EXPECT_EQ(simulation.rules[0].name, "no-sidecar");
  EXPECT_EQ(simulation.rules[0].stuck, 5);
  EXPECT_EQ(simulation.rules[1].stuck, 0);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
  const Scenario backoff = WithBackoff(Ready("brooker-collapse"));
  int stuck = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const RunRecord record = RunScenario(backoff, CallerRule::kThis, seed);
    if (record.Figures().state == RunFigures::State::kStuck) ++stuck;
  }
  EXPECT_LE(stuck, 1);  // The server is near the edge.
}

// The load grows from 40 to 80 a second in 25 s, and falls to nothing in the next 50.
std::string Ramp() {
  std::string steps;
  for (int second = 0; second < 75; ++second) {
    absl::StrAppend(&steps, second == 0 ? "" : ", ", "{at: ", second,
                    "s, for: 1s, rate: ", 80 - 1.6 * std::abs(second + 0.5 - 25), "/s}");
  }
  return absl::StrReplaceAll(
      Ready("brooker-collapse"),
      {{"duration: 120s", "duration: 75s"}, {"{at: 20s, for: 5s, rate: 80/s}", steps}});
}

// Returns the share of good answers once the load is below the 40 a second that are easy to serve.
double SuccessOnTheWayDown(const Scenario& ramp, CallerRule rule) {
  const RunRecord record = RunScenario(ramp, rule, /*seed=*/1);
  const ClientRecord& web = record.clients().front();
  const auto sum = [](const PerSecond& counts) {
    return static_cast<double>(std::accumulate(counts.begin() + 55, counts.end(), int64_t{0}));
  };
  return sum(web.ok) / sum(web.begun);
}

TEST(ReadyScenarios, L2_OnASlowRampABackoffAloneCollapsesAndLeveeDoesNot) {
  const Scenario ramp = ScenarioOf(Ramp());
  EXPECT_LT(SuccessOnTheWayDown(ramp, CallerRule::kNoSidecar), 0.5);
  EXPECT_LT(SuccessOnTheWayDown(WithBackoff(Ramp()), CallerRule::kThis), 0.5);
  EXPECT_GT(SuccessOnTheWayDown(ramp, CallerRule::kNoRetries), 0.99);
  EXPECT_GT(SuccessOnTheWayDown(ramp, CallerRule::kThis), 0.99);
}

// Huang and others found this at OSDI 2022.
TEST(ReadyScenarios, L2_AFaultThatIsALittleDeeperOrLongerStays) {
  const std::string text = Ready("osdi22-trigger");
  const auto stuck = [&text](const std::string& from, const std::string& to) {
    const Scenario scenario = ScenarioOf(absl::StrReplaceAll(text, {{from, to}}));
    const RunRecord record = RunScenario(scenario, CallerRule::kNoSidecar, /*seed=*/1);
    return record.Figures().state == RunFigures::State::kStuck;
  };
  EXPECT_TRUE(stuck("", ""));
  EXPECT_FALSE(stuck("capacity: 0.2}", "capacity: 0.225}"));  // 0.45 of 2 CPUs
  EXPECT_FALSE(stuck("for: 10s", "for: 9s"));
  EXPECT_FALSE(stuck("548/s", "411/s"));
  const Simulation simulation = ReadySimulation("osdi22-trigger");
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(ReadyScenarios, TheDemosStormKeepsAServiceDownUnlessLeveeRetries) {
  const Simulation simulation = ReadySimulation("demo-storm");
  EXPECT_EQ(simulation.rules.front().name, "envoy-istio");
  EXPECT_EQ(simulation.rules.front().stuck, 1);
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
}

TEST(ReadyScenarios, ARollingRestartFailsOnlyWhatTheInstancesWorkedOn) {
  const Simulation simulation = ReadySimulation("restart");
  EXPECT_TRUE(simulation.ok()) << SimulationText(simulation);
  EXPECT_LT(simulation.rules.back().figures.success, 1);
}

}  // namespace
}  // namespace levee
