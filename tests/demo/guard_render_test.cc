// SPDX-License-Identifier: Apache-2.0
#include "demo/guard_render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "demo/lines.h"

namespace levee::demo {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr GuardScene kGuardScene{.calm_calls = 300, .storm_calls = 1200, .service = 400};
constexpr Schedule kGuardSchedule{absl::Seconds(2), absl::Seconds(4), absl::Seconds(6)};

// The counts of a second of the storm. All calls before and after it are good.
struct StormSecond {
  int ok = 0;
  int load = 0;
  int guard_attempts = 0;  // 0: there is no guard.
};

RunRecord Record(const StormSecond& storm) {
  RunRecord record(kGuardSchedule);
  Sample sample;
  GuardState guard{.limit = 9, .in_flight = 8, .waiting = 7};
  record.Add(sample);
  for (int tenth = 0; tenth < 120; ++tenth) {
    const bool in_storm = tenth >= 20 && tenth < 60;
    const int calls = in_storm ? 120 : 30;
    const int ok = in_storm ? storm.ok / 10 : calls;
    sample.at = absl::Milliseconds(100 * (tenth + 1));
    sample.calls.started += calls;
    sample.calls.ok += ok;
    sample.calls.failed += calls - ok;
    sample.attempts += in_storm ? storm.load / 10 : calls;
    record.Add(sample);
    if (storm.guard_attempts == 0) continue;
    guard.attempts += in_storm ? storm.guard_attempts / 10.0 : calls;
    guard.refused += in_storm ? (storm.guard_attempts - storm.load) / 10.0 : 0;
    record.AddGuard({sample.at, guard});
  }
  return record;
}

constexpr StormSecond kWithout{.ok = 20, .load = 3300};
constexpr StormSecond kWith{.ok = 390, .load = 400, .guard_attempts = 1260};

TEST(GuardTable, SetsBothRunsSideBySide) {
  RunRecord with = Record(kWith);
  CallTimes times;
  for (int ms = 0; ms < 100; ++ms) times.Add(absl::Milliseconds(ms));
  with.SetStormTimes(times);
  const auto table = GuardTable(kGuardScene, Record(kWithout), with);
  EXPECT_THAT(table[0], ContainsRegex("without a guard +with a guard"));
  EXPECT_THAT(table[1], ContainsRegex("goodput before +300/s +300/s"));
  EXPECT_THAT(table[2], ContainsRegex("goodput in the storm +20/s .5%. +390/s .98%."));
  EXPECT_THAT(table[3], ContainsRegex("p50 of good calls +no good call +50 ms"));
  EXPECT_THAT(table[4], ContainsRegex("p99 of good calls +no good call +99 ms"));
  EXPECT_THAT(table[5], ContainsRegex("refused by the guard +- +860/s"));
  EXPECT_THAT(table[6], ContainsRegex("attempts of the callers +3300/s +1260/s"));
  EXPECT_THAT(table[7], ContainsRegex("for each call +2.75 +1.05"));
  EXPECT_THAT(table[8], ContainsRegex("load on the service +3300/s .825%. +400/s .100%."));
  EXPECT_THAT(table[9], ContainsRegex("goodput after the storm +300/s +300/s"));
  EXPECT_THAT(table[10], ContainsRegex("recovery time +0.0 s +0.0 s"));
}

TEST(GuardFrame, HasTheSizeOfAFrameAndSaysWhatTheGuardDoes) {
  const RunRecord without = Record(kWithout), with = Record(kWith);
  std::vector<std::string> frame = GuardFrame(
      kGuardScene,
      {{.name = "without guard", .record = &without}, {.name = "with", .record = &with}});
  EXPECT_EQ(frame.size(), 13u);
  for (std::string& line : frame) line = WithoutColours(line);
  EXPECT_EQ(frame[6], "  1.00 attempts per call");
  EXPECT_THAT(frame[10], HasSubstr("good      300/s"));
  EXPECT_THAT(frame[11], HasSubstr("load      300/s of 400/s"));
  EXPECT_EQ(frame[12], "  the guard lets in 9 at a time; 8 are in, 7 wait");
}

TEST(GuardFrame, HasTheSameSizeBeforeTheSecondRun) {
  const RunRecord without = Record(kWithout);
  const RunView coming{.name = "with guard"};
  EXPECT_EQ(GuardFrame(kGuardScene, {{.name = "without guard", .record = &without}, coming}).size(),
            13u);
}

TEST(GuardLine, IsTheLastSecond) {
  const RunRecord with = Record(kWith);
  EXPECT_EQ(GuardLine({.name = "with guard", .record = &with}),
            "with guard     12s recovery calls/s   300  good   300  load   300  limit 9");
}

}  // namespace
}  // namespace levee::demo
