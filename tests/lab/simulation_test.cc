// SPDX-License-Identifier: Apache-2.0
// Verdicts, tables and expectations of simulations.
#include "lab/simulation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"
#include "lab/simulation_html.h"
#include "lab/simulation_json.h"
#include "lab/simulation_text.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A service that stands still for two seconds, with room for hardly more than its load.
std::string Storm(const std::string& added) {
  return absl::StrCat(
      "duration: 60s\n"
      "clients:\n"
      "  - {name: web, calls: db/Get, load: {poisson: 90/s}, deadline: 1s, retries: 1}\n"
      "services: [{name: db, slots: 10, time: 100ms}]\n"
      "faults: [{at: 10s, for: 2s, service: db, capacity: 0}]\n",
      added);
}

Simulation SimulationOf(const std::string& text, uint64_t seed = 1, int seeds = 1) {
  return Simulate("s", ScenarioOf(text), seed, seeds);
}

TEST(Simulation, SaysWhoRecoversAndWhoDoesNot) {
  const Simulation simulation = SimulationOf(Storm("compare: [no-sidecar, no-retries, this]\n"));
  ASSERT_EQ(simulation.rules.size(), 3u);
  EXPECT_EQ(simulation.rules[0].name, "no-sidecar");
  EXPECT_EQ(simulation.rules[0].figures.state, RunFigures::State::kStuck);
  EXPECT_EQ(simulation.rules[1].figures.state, RunFigures::State::kRecovered);
  EXPECT_EQ(simulation.rules[2].name, "this");
  EXPECT_EQ(simulation.rules[2].figures.state, RunFigures::State::kRecovered);
  EXPECT_THAT(simulation.verdict,
              AllOf(ContainsRegex("^The system recovers [0-9]+s after the trouble ends, with "
                                  "1\\.[0-9]+ attempts per call\\. "),
                    HasSubstr("It stays stuck under no-sidecar.")));
}

TEST(Simulation, FitsATerminalOf80Columns) {
  const std::string text = SimulationText(SimulationOf(
      Storm("compare: [no-sidecar, no-retries, plain-3]\nexpect: [{success: '> 99.99%'}]\n")));
  for (const auto line : absl::StrSplit(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(text, ContainsRegex("\n  policy +per call +worst +success +load/s +good/s +back in"));
  EXPECT_THAT(text, ContainsRegex("\n  no-sidecar +1\\.[0-9]+ .* stuck "));
  EXPECT_THAT(text, ContainsRegex("\n  FAIL  success > 99.99%: [0-9.]+%\n"));
}

TEST(Simulation, ExpectationsAreThoseOfTheScenarioAsItIsWritten) {
  const Simulation simulation =
      SimulationOf(Storm("compare: [plain-3]\n"
                         "expect:\n"
                         "  - {amplification: '<= 1.1', of: db}\n"
                         "  - {success: '>= 99.9%', of: web, before: 9s}\n"
                         "  - {success: '>= 99.9%'}\n"
                         "  - {recovery: '<= 1ms'}\n"
                         "  - {p50: '<= 200ms'}\n"
                         "  - {p99: '< 1ms', of: web}\n"));
  std::vector<bool> ok;
  for (const SimulatedExpectation& each : simulation.expectations) ok.push_back(each.ok);
  EXPECT_EQ(ok, std::vector<bool>({true, true, false, false, true, false}));
  EXPECT_FALSE(simulation.ok());
  EXPECT_THAT(simulation.verdict, HasSubstr("Of 6 expectations 3 fail."));
  EXPECT_NEAR(*simulation.expectations[1].value, 1, 0.001);
}

TEST(Simulation, AnExpectationOfWhatNeverComesFails) {
  const Simulation simulation = SimulationOf(
      "duration: 20s\n"
      "clients: [{name: web, sidecar: none, calls: db/Get, load: {even: 10/s}}]\n"
      "services: [{name: db, slots: 10, time: 1ms}]\n"
      "faults: [{at: 0s, for: 30s, service: db, fail: {code: INTERNAL}}]\n"
      "expect: [{recovery: '<= 1h'}, {p99: '<= 1h'}]\n");
  for (const SimulatedExpectation& each : simulation.expectations) {
    EXPECT_FALSE(each.ok) << each.text;
    EXPECT_EQ(each.value, std::nullopt) << each.text;
  }
}

TEST(Simulation, TheSameSeedGivesTheSameBytes) {
  const std::string storm = Storm("compare: [no-sidecar]\nexpect: [{p99: '< 1h'}]\n");
  const std::string json = SimulationJson(SimulationOf(storm, 7));
  EXPECT_EQ(json, SimulationJson(SimulationOf(storm, 7)));
  EXPECT_NE(json, SimulationJson(SimulationOf(storm, 8)));
}

TEST(Simulation, OfSeveralSeedsItShowsTheMedianAndTheWorst) {
  const std::string storm = Storm("expect: [{success: '> 1%'}]\n");
  std::vector<double> success;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    success.push_back(SimulationOf(storm, seed).rules.back().figures.success);
  }
  std::sort(success.begin(), success.end());
  ASSERT_LT(success[0], success[1]);
  const Simulation simulation = SimulationOf(storm, 1, 3);
  EXPECT_EQ(simulation.rules.back().figures.success, success[1]);
  EXPECT_EQ(simulation.expectations[0].value, success[0]);
  EXPECT_THAT(SimulationText(simulation), HasSubstr("medians of the seeds 1 to 3\n"));
}

TEST(Simulation, JsonHasTheFieldsOfTheContract) {
  const std::string json = SimulationJson(SimulationOf(Storm("expect: [{recovery: '<= 1h'}]\n")));
  for (const char* key :
       {"verdict", "policies", "name", "amplification", "worst_second", "success", "goodput",
        "recovery_s", "p50_ms", "p99_ms", "expectations", "text", "ok", "value"}) {
    EXPECT_THAT(json, HasSubstr(absl::StrCat("\"", key, "\": "))) << key;
  }
  EXPECT_THAT(json, HasSubstr("\"ok\": true"));
}

TEST(SimulationHtml, IsOneFileThatLoadsNothing) {
  const std::string html = SimulationHtml(
      SimulationOf(Storm("compare: [no-sidecar]\nexpect: [{success: '> 99.99%'}]\n")));
  EXPECT_THAT(html, AllOf(HasSubstr("<h3>no-sidecar</h3>"), HasSubstr("<h3>this</h3>"),
                          HasSubstr("<td>FAIL</td>"), HasSubstr("class=\"trouble\""),
                          HasSubstr("success &gt; 99.99%")));
  for (const char* loads : {"src=", "url(", "@import", "<script", "http://", "https://"}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

// What 30% of failures for four of ten seconds make of 1000 requests, under policies of these
// texts, of which the first is in force.
Simulation Shadowed(const std::string& policies, const std::string& shadow, int seeds = 1) {
  const auto config =
      ParseConfig("p", absl::StrCat("upstreams: [{name: any, endpoints: ['authority:']}]\n"
                                    "routes: [{upstream: any, policy: now, shadow: ",
                                    shadow,
                                    "}]\n"
                                    "policies: [",
                                    policies, "]\n"));
  EXPECT_TRUE(config.ok()) << config.status();
  const CheckedScenario checked = CheckScenario(
      {"s",
       "duration: 10s\n"
       "clients: [{name: web, instances: 2, calls: db/Get, load: {even: 100/s}, deadline: 1s}]\n"
       "services: [{name: db, slots: 100, time: 1ms}]\n"
       "faults: [{at: 2s, for: 4s, service: db, fail: {code: UNAVAILABLE, share: 0.3}}]\n"
       "compare: [no-sidecar]\n"},
      *config);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return Simulate("s", checked.scenario, /*first_seed=*/1, seeds);
}

constexpr char kNow[] = "{name: now, retry: {max_attempts: 2, budget: {ratio: 1}}}";
constexpr char kNever[] = "{name: never, retry: {max_attempts: 1}}";
constexpr char kMore[] = "{name: more, retry: {max_attempts: 9, budget: {ratio: 1}}}";

TEST(SimulationShadow, ItIsCountedHowOftenItWouldHaveMadeMoreOrFewerAttempts) {
  const Simulation never = Shadowed(absl::StrCat(kNow, ", ", kNever), "never");
  ASSERT_EQ(never.shadows.size(), 1u);
  const ShadowRecord& counts = never.shadows[0];
  EXPECT_EQ(counts.caller, "web");
  EXPECT_EQ(counts.policy, "now");
  EXPECT_EQ(counts.shadow, "never");
  const auto [same, more, fewer] = counts.calls;
  EXPECT_EQ(same + fewer, 999);  // The first request comes 10 ms after the beginning.
  EXPECT_EQ(more, 0);
  EXPECT_NEAR(static_cast<double>(fewer), 120, 30);

  const auto other = Shadowed(absl::StrCat(kNow, ", ", kMore), "more").shadows.at(0).calls;
  EXPECT_EQ(other[2], 0);
  EXPECT_NEAR(static_cast<double>(other[1]), 0.3 * 120, 20);  // A second failure.
}

TEST(SimulationShadow, ItDoesNothing) {
  const Simulation with = Shadowed(absl::StrCat(kNow, ", ", kMore), "more");
  Simulation without = Shadowed(kNow, "none");
  EXPECT_TRUE(without.shadows.empty());
  EXPECT_THAT(SimulationJson(without), Not(HasSubstr("shadow")));
  EXPECT_THAT(SimulationText(without), Not(HasSubstr("shadow")));
  without.shadows = with.shadows;
  EXPECT_EQ(SimulationJson(with), SimulationJson(without));
}

TEST(SimulationShadow, EachReportHasItsCounts) {
  const Simulation simulation = Shadowed(absl::StrCat(kNow, ", ", kNever), "never");
  const auto [same, more, fewer] = simulation.shadows.at(0).calls;
  EXPECT_THAT(SimulationText(simulation),
              HasSubstr(absl::StrCat("\n  shadow  beside  calls of  same  more  fewer\n"
                                     "  never   now     web        ",
                                     same, "     0    ", fewer, "\n")));
  EXPECT_THAT(
      SimulationJson(simulation),
      HasSubstr(absl::StrCat("\"shadows\": [\n    {\"caller\": \"web\", \"policy\": \"now\", "
                             "\"shadow\": \"never\", \"same\": ",
                             same, ", \"more\": 0, \"fewer\": ", fewer, "}")));
  EXPECT_THAT(SimulationHtml(simulation),
              AllOf(HasSubstr("Shadow policies"), HasSubstr(absl::StrCat("<td>", fewer, "</td>"))));
}

TEST(SimulationShadow, TheCallsOfAllSeedsCount) {
  const auto one = Shadowed(absl::StrCat(kNow, ", ", kNever), "never").shadows.at(0).calls;
  const auto three = Shadowed(absl::StrCat(kNow, ", ", kNever), "never", 3).shadows.at(0).calls;
  EXPECT_EQ(three[0] + three[2], 3 * (one[0] + one[2]));
  EXPECT_GT(three[2], 2 * one[2]);
}

TEST(Simulation, ItsTimelineShowsTheTroubleAndTheQueue) {
  const RunTimeline timeline = SimulationOf(Storm("")).rules.back().timeline;
  ASSERT_EQ(timeline.requests.size(), 60u);
  EXPECT_NEAR(static_cast<double>(timeline.answers[5]), 90, 30);
  EXPECT_EQ(timeline.answers[11], 0);  // Everything stands still.
  EXPECT_LE(timeline.queue[5], 20);
  EXPECT_GT(timeline.queue[11], 100);
  EXPECT_LE(timeline.queue[59], 20);
}

TEST(Simulation, WithoutTroubleThereIsNothingToRecoverFrom) {
  const Simulation simulation = SimulationOf(kWebAndCart);
  EXPECT_EQ(simulation.verdict, "Of the requests 100% succeed, with 1.00 attempts per call.");
  EXPECT_THAT(SimulationJson(simulation), HasSubstr("\"recovery_s\": null"));
}

}  // namespace
}  // namespace levee
