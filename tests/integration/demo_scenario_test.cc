// SPDX-License-Identifier: Apache-2.0
// L3: what `levee simulate` says of the demo's storm beside what `levee demo` measures with real
// calls. At 500 calls a second the demo's figures hold on a machine that does other things as well.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "files/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/child.h"
#include "integration/demo_table.h"

namespace levee {
namespace {

using testing::HasSubstr;

constexpr int kSeeds = 10;

// The phases of the demo's runs of 20 s, which the scenario has as well.
struct RunPhase {
  int64_t from, to;  // seconds
};
constexpr RunPhase kCalmPhase = {0, 3}, kStorm = {3, 10}, kRecovery = {10, 20}, kTrouble = {3, 20};

// The seconds of a simulated run.
struct Second {
  double requests = 0, attempts = 0, answers = 0;
};
using Seconds = std::map<int64_t, Second>;

Second Sum(const Seconds& by_second, RunPhase span) {
  Second sum;
  for (int64_t second = span.from; second < span.to; ++second) {
    const Second& each = by_second.at(second);
    sum.requests += each.requests;
    sum.attempts += each.attempts;
    sum.answers += each.answers;
  }
  return sum;
}

// The rows of the demo's table, by their names there.
using Table = std::map<std::string, double>;

Table TableOf(const Seconds& by_second) {
  const auto rate = [&](RunPhase span, double Second::*of) {
    return Sum(by_second, span).*of / static_cast<double>(span.to - span.from);
  };
  double worst = 0;
  for (int64_t second = kTrouble.from; second < kTrouble.to; ++second) {
    worst = std::max(worst, by_second.at(second).attempts / by_second.at(second).requests);
  }
  const Second trouble = Sum(by_second, kTrouble);
  return {{"load in the storm", rate(kStorm, &Second::attempts)},
          {"load after the fault", rate(kRecovery, &Second::attempts)},
          {"goodput before", rate(kCalmPhase, &Second::answers)},
          {"goodput in the storm", rate(kStorm, &Second::answers)},
          {"goodput after the fault", rate(kRecovery, &Second::answers)},
          {"amplification", trouble.attempts / trouble.requests},
          {"in the worst second", worst}};
}

// One simulated run of each policy of the scenario.
std::map<std::string, Table> Simulated(int seed) {
  const Ended command =
      RunToEnd(LEVEE_BINARY, {"simulate", SourcePath("config/scenarios/demo-storm.yaml"), "--seed",
                              absl::StrCat(seed), "-o", "csv"});
  std::map<std::string, Seconds> by_policy;
  std::istringstream lines(command.output);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("policy,second,requests,attempts,answers")) << command.errors;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    int64_t number = 0;
    Second second;
    EXPECT_TRUE(cells.size() > 4 && absl::SimpleAtoi(cells[1], &number) &&
                absl::SimpleAtod(cells[2], &second.requests) &&
                absl::SimpleAtod(cells[3], &second.attempts) &&
                absl::SimpleAtod(cells[4], &second.answers))
        << line;
    by_policy[cells[0]][number] = second;
  }
  std::map<std::string, Table> tables;
  for (const auto& [policy, each] : by_policy) tables[policy] = TableOf(each);
  return tables;
}

// What the seeds of a policy say of one row.
struct Estimate {
  double mean = 0, deviation = 0;
};

Estimate EstimateOf(const std::vector<std::map<std::string, Table>>& runs,
                    const std::string& policy, const std::string& row) {
  Estimate estimate;
  for (const auto& run : runs) estimate.mean += run.at(policy).at(row) / kSeeds;
  double squares = 0;
  for (const auto& run : runs) squares += std::pow(run.at(policy).at(row) - estimate.mean, 2);
  estimate.deviation = std::sqrt(squares / kSeeds);
  return estimate;
}

// The demo is one run: it may differ by 10%, or by what one seed differs from another.
void ExpectAgrees(const std::string& row, double real, const Estimate& simulated) {
  std::cout << row << ": real " << real << ", simulated " << simulated.mean << " +- "
            << simulated.deviation << "\n";
  // A rate of 0 is one that is shown as 0.
  const double least = simulated.mean == 0 ? 0.5 : 0;
  EXPECT_NEAR(real, simulated.mean,
              std::max({0.1 * simulated.mean, 2 * simulated.deviation, least}))
      << row;
}

TEST(DemoOfAStormSoak, L3_IsWhatTheScenarioSays) {
  Ended demo;
  std::thread real([&demo] {
    Child child(LEVEE_BINARY, {"demo", "--duration", "44s", "--rate", "500"});
    for (auto line = child.ReadLine(); line.has_value(); line = child.ReadLine()) {
      demo.output += *line + "\n";
    }
    demo.exit = child.WaitForExit();
    demo.errors = child.Errors();
  });
  std::vector<std::map<std::string, Table>> runs;
  for (int seed = 1; seed <= kSeeds; ++seed) runs.push_back(Simulated(seed));
  real.join();
  ASSERT_EQ(demo.exit, 0) << demo.errors << demo.output;
  for (const auto& [row, ignored] : runs.front().at("this")) {
    const Row told = RowOf(demo.output, row);
    ExpectAgrees(row + ", plain clients", told.without, EstimateOf(runs, "envoy-istio", row));
    ExpectAgrees(row + ", through Levee", told.with, EstimateOf(runs, "this", row));
  }
  // The recovery: the scenario expects it within a second, and its plain clients stay stuck.
  EXPECT_THAT(demo.output, HasSubstr("recovery time             not within 10.0 s"));
  const size_t recovery = demo.output.find("recovery time");
  const std::string line =
      demo.output.substr(recovery, demo.output.find('\n', recovery) - recovery);
  double recovered = -1;
  EXPECT_TRUE(absl::SimpleAtod(line.substr(line.rfind(" s") - 3, 3), &recovered)) << line;
  EXPECT_LE(recovered, 1) << line;
}

}  // namespace
}  // namespace levee
