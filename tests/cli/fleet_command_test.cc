// SPDX-License-Identifier: Apache-2.0
// How `levee fleet` is asked, and what it says where nobody answers.
#include <string>
#include <vector>

#include "cli/fleet_sources.h"
#include "cli/levee_command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string FleetRefused(std::vector<std::string> words) {
  words.insert(words.begin(), "fleet");
  const Answer answer = Levee(words);
  EXPECT_EQ(answer.code, 2) << answer.out;
  EXPECT_EQ(answer.out, "");
  return answer.err;
}

TEST(FleetCommand, NeedsSidecarsOrPrometheusAndNotBoth) {
  EXPECT_EQ(FleetRefused({}), "levee fleet: name sidecars, or give --prometheus\n");
  EXPECT_THAT(FleetRefused({"a:1", "--prometheus", "http://b:1"}), HasSubstr("excludes"));
}

TEST(FleetCommand, RefusesWhatMeansNothing) {
  EXPECT_THAT(FleetRefused({"a"}), HasSubstr("\"a\" is not HOST:PORT or NAME=HOST:PORT"));
  EXPECT_THAT(FleetRefused({"=a:1"}), HasSubstr("\"=a:1\" is not HOST:PORT or NAME=HOST:PORT"));
  EXPECT_THAT(FleetRefused({"a:1", "--interval", "5"}),
              HasSubstr("is not a duration with a unit from 1s"));
  EXPECT_THAT(FleetRefused({"a:1", "--interval", "2s", "--since-start"}), HasSubstr("excludes"));
  EXPECT_THAT(FleetRefused({"a:1", "--range", "5m"}), HasSubstr("requires --prometheus"));
  EXPECT_THAT(FleetRefused({"--prometheus", "b:9090"}),
              HasSubstr("\"b:9090\" is no http://HOST:PORT"));
  EXPECT_THAT(FleetRefused({"a:1", "--join", "cart"}), HasSubstr("\"cart\" is not UPSTREAM=NAME"));
  EXPECT_THAT(FleetRefused({"a:1", "--bound", "0.5"}), HasSubstr("--bound"));
}

TEST(FleetCommand, SidecarsThatDoNotAnswerAreNamedOnce) {
  const Answer answer =
      Levee({"fleet", "--since-start", "cart=127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:2"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(answer.out,
            "0 of 2 sidecars, since their start\n  - No sidecar was read.\n"
            "  - cart at 127.0.0.1:1 was not read: connection refused.\n"
            "  - 127.0.0.1:2 was not read: connection refused.\n");
}

TEST(FleetCommand, APrometheusThatDoesNotAnswerIsNamed) {
  const Answer answer = Levee({"fleet", "--prometheus", "http://127.0.0.1:1"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, StartsWith("levee fleet: http://127.0.0.1:1: "));
}

TEST(FleetCommand, PairsHaveBothSides) {
  EXPECT_EQ(SplitPair("a=b=c")->second, "b=c");
  for (const char* wrong : {"", "=", "a=", "=b", "ab"}) EXPECT_FALSE(SplitPair(wrong)) << wrong;
}

}  // namespace
}  // namespace levee
