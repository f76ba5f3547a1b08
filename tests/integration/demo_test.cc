// SPDX-License-Identifier: Apache-2.0
// `levee demo` from its start to its end, as a user runs it.
#include <csignal>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/child.h"
#include "integration/demo_table.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The shortest one of the smallest service: it can do 200 calls a second.
const std::vector<std::string> kDemo = {"demo", "--guard", "--duration", "15s", "--rate", "200"};

// Rates, since their figures depend on the machine, are only there.
void ExpectRow(const Ended& demo, const std::string& row) {
  EXPECT_GE(RowOf(demo.output, row).without, 0) << row << demo.output;
  EXPECT_GE(RowOf(demo.output, row).with, 0) << row << demo.output;
}

TEST(Demos, EndWithTheirTables) {
  auto overload = std::async(std::launch::async, [] { return RunToEnd(LEVEE_BINARY, kDemo); });
  const Ended storm = RunToEnd(LEVEE_BINARY, {"demo", "--duration", "15s", "--rate", "50"});
  const Ended guard = overload.get();
  for (const Ended* demo : {&storm, &guard}) {
    EXPECT_EQ(demo->exit, 0) << demo->errors;  // A busy machine may make gRPC's library tell of it.
    ExpectRow(*demo, "goodput in the storm");
  }
  ExpectRow(storm, "amplification");
  ExpectRow(guard, "load on the service");
}

TEST(DemoOfTheGuardSoak, KeepsTheServiceAtWorkThatCollapsesWithoutIt) {
  const Ended demo = RunToEnd(LEVEE_BINARY, kDemo);
  std::cout << demo.output;
  ASSERT_EQ(demo.exit, 0) << demo.errors;
  EXPECT_THAT(demo.errors, IsEmpty());
  const Row goodput = RowOf(demo.output, "goodput in the storm");
  ASSERT_GE(goodput.without, 0);
  EXPECT_GT(goodput.with, goodput.without);
  const Row attempts = RowOf(demo.output, "for each call");
  EXPECT_LT(attempts.with, attempts.without);
  const Row load = RowOf(demo.output, "load on the service");
  EXPECT_LT(load.with, load.without);
  // The share of its work that the service does not do in vain. A slow machine makes all rates
  // smaller, and changes it little: nearly all against a fiftieth.
  EXPECT_GT(goodput.with / load.with, 3 * goodput.without / load.without);
  EXPECT_GT(RowOf(demo.output, "refused by the guard").with, 0);
}

TEST(DemoOfTheGuard, RefusesAServiceThatIsTooSmallForIt) {
  const Ended demo = RunToEnd(LEVEE_BINARY, {"demo", "--guard", "--rate", "199"});
  EXPECT_EQ(demo.exit, 2);
  EXPECT_EQ(demo.output, "");
  EXPECT_EQ(demo.errors, "levee: with --guard the rate is 200 or more\n");
}

TEST(DemoOfTheGuard, EndsAtAnInterrupt) {
  Child demo(LEVEE_BINARY, kDemo);
  std::string all;
  // The page's address is told once the sidecar runs and the first calls begin.
  while (all.find("Levee's page") == std::string::npos) {
    const auto line = demo.ReadLine();
    ASSERT_TRUE(line.has_value()) << demo.Errors();
    all += *line + "\n";
  }
  EXPECT_THAT(all, HasSubstr("600 calls/s: 3 x what the service can do"));
  demo.Signal(SIGINT);
  EXPECT_EQ(demo.WaitForExit(), 130);
  EXPECT_EQ(demo.Errors(), "");
}

}  // namespace
}  // namespace levee
