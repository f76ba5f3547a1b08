// SPDX-License-Identifier: Apache-2.0
#include "demo/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "demo/lines.h"

namespace levee::demo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLongest[] = "127.0.0.1:65535";
const Addresses kLongestAddresses{.faults = kLongest,
                                  .calls = kLongest,
                                  .metrics = kLongest,
                                  .page = kLongest,
                                  .config_file = "/tmp/levee-demo-4194304.yaml",
                                  .program = "/usr/local/bin/levee"};

// A run of the longest demo in which everything fails after three attempts.
RunRecord LongestRun(const Load& load) {
  RunRecord record(Schedule::Within(absl::Minutes(10)));
  const auto per_second = static_cast<int64_t>(load.storm_per_second);
  Sample sample;
  GuardSample guard;
  record.Add(sample);
  while (sample.at < record.schedule().length()) {
    sample.at += absl::Seconds(1);
    sample.calls.started += per_second;
    sample.calls.failed += per_second;
    sample.attempts += 3 * per_second;
    record.Add(sample);
    guard.at = sample.at;
    guard.state = {.attempts = guard.state.attempts + 3 * load.storm_per_second,
                   .refused = guard.state.refused + 3 * load.storm_per_second,
                   .limit = 1000,
                   .in_flight = 1000,
                   .waiting = 8000};
    record.AddGuard(guard);
  }
  return record;
}

// All that the demo prints, in its longest form: at the highest rate, for the longest time.
std::vector<std::string> EveryLine(const Scenario& scenario) {
  const RunRecord record = LongestRun(scenario.load);
  std::vector<std::string> all;
  for (const Scenario::Run& each : {scenario.without, scenario.with}) {
    const RunView run{.name = each.name,
                      .record = &record,
                      .budget = BudgetState{.available = 5000, .at_once = 5000, .refused = 9999}};
    all.push_back(scenario.line(run));
    for (const std::string& line : scenario.frame({run, run})) all.push_back(WithoutColours(line));
  }
  for (const auto& lines :
       {scenario.introduction(record.schedule()), PageHint(kLongest),
        scenario.table(record, record), Invitation(kLongestAddresses, scenario.suggestions)}) {
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

TEST(Scenario, FitsInto80Columns) {
  for (const Scenario& scenario : {RetryStorm(5000), Overload(5000)}) {
    for (const std::string& line : EveryLine(scenario)) {
      EXPECT_LE(Columns(line), static_cast<size_t>(kFrameColumns)) << line;
    }
  }
}

TEST(Scenario, AnOverloadIsThreeTimesWhatTheServiceCanDo) {
  const Scenario scenario = Overload(400);
  EXPECT_DOUBLE_EQ(scenario.load.storm_per_second, 3 * scenario.capacity.PerSecond());
  EXPECT_LT(scenario.load.calm_per_second, scenario.capacity.PerSecond());
  EXPECT_THAT(scenario.introduction(Schedule::Within(absl::Seconds(28)))[1],
              HasSubstr("1200 calls/s: 3 x what the service can do"));
}

TEST(Scenario, BothRunsOfAnOverloadHaveTheSameClients) {
  const Scenario scenario = Overload(400);
  EXPECT_EQ(scenario.with.retries, scenario.without.retries);
}

std::string InvitationTo(const Scenario& scenario) {
  std::string all;
  for (const std::string& line : Invitation({.faults = "127.0.0.1:1",
                                 .calls = "127.0.0.1:2",
                                 .metrics = "127.0.0.1:3",
                                 .page = "127.0.0.1:4",
                                 .config_file = "demo.yaml",
                                 .program = "build/levee"},
                                            scenario.suggestions)) {
    all += line + "\n";
  }
  return all;
}

TEST(Invitation, NamesEveryAddress) {
  const std::string all = InvitationTo(RetryStorm(400));
  for (const char* part :
       {"curl -X POST 'http://127.0.0.1:1/faults?failing=0.5'",
        "127.0.0.1:2 \\\n      levee.demo.v1.Shop/GetPrice",
        "http://127.0.0.1:2/levee.demo.v1.Shop/GetPrice", "http://127.0.0.1:3/metrics",
        "http://127.0.0.1:4/", "demo.yaml", "    build/levee run --guard"}) {
    EXPECT_THAT(all, HasSubstr(part));
  }
  EXPECT_THAT(all, Not(HasSubstr("$")));
}

TEST(Invitation, SuggestsAfterAnOverloadWhatAGuardReactsTo) {
  const std::string all = InvitationTo(Overload(400));
  EXPECT_THAT(all, HasSubstr("curl -X POST 'http://127.0.0.1:1/faults?workers_down=0.5'"));
  EXPECT_THAT(all, HasSubstr("grep -E '^levee_guard"));
}

}  // namespace
}  // namespace levee::demo
