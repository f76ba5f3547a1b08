// SPDX-License-Identifier: Apache-2.0
// `levee simulate` on the command line.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/levee_command.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class SimulateTest : public testing::Test {
 protected:
  std::string Scenario(const std::string& expect) const {
    return folder_.Write("storm.yaml",
                         "duration: 20s\n"
                         "clients: [{name: web, calls: db/Get, load: {even: 100/s}}]\n"
                         "services: [{name: db, slots: 100, time: 1ms}]\n"
                         "faults: [{at: 5s, for: 5s, service: db,\n"
                         "          fail: {code: UNAVAILABLE, share: 0.6}}]\n"
                         "expect: [" +
                             expect + "]\n");
  }

  const TemporaryFolder folder_;
};

TEST_F(SimulateTest, FailsIfAnExpectationFails) {
  const Answer good = Levee({"simulate", Scenario("{amplification: '<= 1.1'}")});
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_EQ(good.err, "");
  EXPECT_THAT(good.out, HasSubstr("\n  ok    amplification <= 1.1: 1.0"));
  const Answer bad = Levee({"simulate", Scenario("{amplification: '<= 1'}")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("\n  FAIL  amplification <= 1: 1.0"));
}

TEST_F(SimulateTest, APolicyIsTestedInPlaceOfTheScenarios) {
  const std::string scenario = Scenario("{amplification: '<= 1.1'}");
  const std::string greedy = folder_.Write("greedy.yaml",
                                           "policies:\n"
                                           "  - name: default\n"
                                           "    retry:\n"
                                           "      max_attempts: 10\n"
                                           "      budget: {ratio: 10, burst: {least: 1000}}\n");
  EXPECT_EQ(Levee({"simulate", scenario}).code, 0);
  const Answer answer = Levee({"simulate", scenario, "--config", greedy});
  EXPECT_EQ(answer.code, 1) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("FAIL  amplification"));
}

TEST_F(SimulateTest, FaultsAreAnsweredAsByCheck) {
  const Answer answer = Levee({"simulate", Scenario("{recovery: '< 5s', off: web}")});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, folder_.Path("storm.yaml") +
                            ":6:29: LV105 expect[0].off: unknown field; did you mean of?\n"
                            "1 fault\n");
  const std::string gone = folder_.Path("gone.yaml");
  EXPECT_THAT(Levee({"simulate", gone}).err,
              StartsWith(gone + ": LV401 cannot be read: No such file or directory\n"));
  const std::string faulty = folder_.Write("faulty.yaml", "limit: {}\n");
  EXPECT_EQ(Levee({"simulate", Scenario(""), "--config", faulty}).err,
            Levee({"check", faulty}).out);
}

TEST_F(SimulateTest, RulesAndSeedsAreThoseOfTheCommandLine) {
  const Answer answer = Levee({"simulate", Scenario(""), "--compare", "no-sidecar,plain-3",
                               "--seed", "4", "--seeds", "2", "-o", "json"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out,
              AllOf(StartsWith("{\n"), HasSubstr("\"seed\": 4"), HasSubstr("\"seeds\": 2"),
                    HasSubstr("\"name\": \"no-sidecar\""), HasSubstr("\"name\": \"plain-3\""),
                    HasSubstr("\"name\": \"this\"")));
}

TEST_F(SimulateTest, AsCsvHasALineForEachSecondOfEachRule) {
  const Answer answer = Levee({"simulate", Scenario(""), "--compare", "plain-3", "-o", "csv"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1 + 2 * 20);
  EXPECT_THAT(answer.out, StartsWith("policy,second,requests,attempts,answers,queue\n"
                                     "plain-3,0,99,99,99,0\n"));
  EXPECT_THAT(answer.out, HasSubstr("\nthis,19,100,100,100,0\n"));
}

TEST_F(SimulateTest, WritesAFileForABrowser) {
  const std::string out = folder_.Path("out.html");
  const Answer answer = Levee({"simulate", Scenario(""), "--html", out});
  EXPECT_EQ(answer.code, 0) << answer.err;
  std::ostringstream html;
  html << std::ifstream(out).rdbuf();
  EXPECT_THAT(html.str(), AllOf(StartsWith("<!doctype html>"), HasSubstr("</html>\n")));
  const std::string nowhere = folder_.Path("none/out.html");
  const Answer failed = Levee({"simulate", Scenario(""), "--html", nowhere});
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.err,
            "levee simulate: " + nowhere + " cannot be written: No such file or directory\n");
}

TEST_F(SimulateTest, AWrongQuestionIsWrongUsage) {
  const auto first = [](const std::vector<std::string>& words) {
    const Answer answer = Levee(words);
    EXPECT_EQ(answer.code, 2) << answer.out;
    return answer.err.substr(0, answer.err.find('\n'));
  };
  EXPECT_EQ(first({"simulate"}), "levee simulate: SCENARIO is required");
  EXPECT_THAT(first({"simulate", Scenario(""), "--compare", "plane-3"}),
              HasSubstr("plane-3 is unknown; did you mean plain-3?"));
  EXPECT_THAT(first({"simulate", Scenario(""), "--seeds", "0"}), HasSubstr("--seeds"));
  EXPECT_THAT(first({"simulate", Scenario(""), "--map", "load,capasity"}),
              HasSubstr("capasity is unknown; did you mean capacity?"));
  EXPECT_THAT(first({"simulate", Scenario(""), "--map", "load"}), HasSubstr("--map"));
}

TEST_F(SimulateTest, AMapIsPrintedWithItsProgressOnStandardError) {
  const Answer answer = Levee({"simulate", Scenario(""), "--map", "load,for"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("\n  this: 0 of 64 runs stuck, "));
  EXPECT_THAT(answer.err, EndsWith("\rlevee simulate: 64 of 64 runs of the map\n"));
}

TEST_F(SimulateTest, AMapThatTheScenarioCannotHaveIsRefusedWithTheReason) {
  const Answer answer = Levee({"simulate", Scenario(""), "--map", "load,capacity"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err,
            "levee simulate: --map: capacity cannot be varied, since no fault of the scenario has "
            "a capacity\n");
  EXPECT_THAT(Levee({"simulate", Scenario(""), "--map", "for,for"}).err,
              HasSubstr("for is given twice"));
}

}  // namespace
}  // namespace levee
