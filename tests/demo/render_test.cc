// SPDX-License-Identifier: Apache-2.0
#include "demo/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "demo/lines.h"
#include "demo/texts.h"

namespace levee::demo {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr Scene kScene{.calls_per_second = 400, .service_per_second = 550, .failing = 0.5};
constexpr Schedule kSchedule{absl::Seconds(2), absl::Seconds(4), absl::Seconds(6)};

// Every call fails from `outage_begin` to `outage_end` and takes `attempts` attempts from the
// storm on; both in seconds. Sampled until `until`.
RunRecord Record(int outage_begin, int outage_end, int attempts, int until = 12) {
  RunRecord record(kSchedule);
  Sample sample;
  record.Add(sample);
  for (int tenth = 0; tenth < 10 * until; ++tenth) {
    const bool fails = tenth >= 10 * outage_begin && tenth < 10 * outage_end;
    sample.at = absl::Milliseconds(100 * (tenth + 1));
    sample.calls.started += 40;
    (fails ? sample.calls.failed : sample.calls.ok) += 40;
    sample.attempts += 40 * (tenth < 20 ? 1 : attempts);
    record.Add(sample);
  }
  return record;
}

std::vector<std::string> FrameOf(const std::vector<RunView>& runs) {
  std::vector<std::string> lines = Frame(kScene, runs);
  for (std::string& line : lines) line = WithoutColours(line);
  return lines;
}

TEST(Frame, HasTheSameSizeAtAllTimes) {
  const RunRecord begun = Record(2, 12, 3, 1);
  const RunRecord done = Record(2, 12, 3);
  const BudgetState budget{.available = 12'345, .at_once = 67'890, .refused = 1};
  const RunView unknown{.name = "through Levee"};
  for (const auto& frame :
       {FrameOf({{.name = "plain clients", .record = &begun}, unknown}),
        FrameOf({{.name = "plain clients", .record = &done},
                 {.name = "through Levee", .record = &done, .budget = budget}})}) {
    EXPECT_EQ(frame.size(), 13u);
    for (const std::string& line : frame) {
      EXPECT_LE(Columns(line), static_cast<size_t>(kFrameColumns)) << line;
    }
  }
}

TEST(Frame, DrawsEachPhaseUnderItsName) {
  const RunRecord record = Record(2, 12, 3);
  const auto frame = FrameOf({{.name = "plain clients", .record = &record}});
  // 44 columns for 12 s, so that the storm begins within the eighth.
  EXPECT_THAT(frame[3],
              HasSubstr("  calm-- storm--------- recovery-------------   calls     400/s"));
  EXPECT_THAT(frame[4], HasSubstr("███████▅▁▁▁▁▁"));
  EXPECT_THAT(frame[4], HasSubstr("success    0%"));
  EXPECT_THAT(frame[5], HasSubstr("▃▃▃▃▃▃▃▆██████"));
  EXPECT_THAT(frame[5], HasSubstr("load     1200/s of 550/s"));
  EXPECT_EQ(frame[6], "  3.00 attempts per call");
}

TEST(Frame, LeavesOutWhatHasNotHappened) {
  const RunRecord record = Record(2, 12, 3, 3);
  const auto frame = FrameOf({{.name = "plain clients", .record = &record}});
  EXPECT_THAT(frame[4], HasSubstr("███████▅▁▁▁   "));
}

TEST(Frame, DrawsTheBudgetAsABar) {
  const RunRecord record = Record(12, 12, 1);
  const BudgetState budget{.available = 50, .at_once = 200};
  const auto frame = FrameOf({{.name = "through Levee", .record = &record, .budget = budget}});
  EXPECT_EQ(frame[6], "  budget [####............] 50 of 200 retries left, 1.00 attempts per call");
}

TEST(PlainLine, IsTheLastSecond) {
  const RunRecord record = Record(2, 12, 3, 5);
  EXPECT_EQ(PlainLine({.name = "plain clients", .record = &record}),
            "plain clients   5s storm      0% ok  load  1200/s  3.00 per call");
  const BudgetState budget{.available = 1, .at_once = 97};
  EXPECT_THAT(PlainLine({.name = "a", .record = &record, .budget = budget}),
              HasSubstr("  budget 1"));
}

TEST(Table, SetsBothRunsSideBySide) {
  const auto table = Table(kScene, Record(2, 12, 3), Record(2, 6, 1));
  EXPECT_THAT(table[0], ContainsRegex("plain clients +through Levee"));
  EXPECT_THAT(table[1], ContainsRegex("load in the storm +1200/s .218%. +400/s .73%."));
  EXPECT_THAT(table[2], ContainsRegex("load after the fault +1200/s .218%. +400/s .73%."));
  EXPECT_THAT(table[3], ContainsRegex("goodput before +400/s +400/s"));
  EXPECT_THAT(table[4], ContainsRegex("goodput in the storm +0/s +0/s"));
  EXPECT_THAT(table[5], ContainsRegex("goodput after the fault +0/s +400/s"));
  EXPECT_THAT(table[6], ContainsRegex("amplification +3.00 +1.00"));
  EXPECT_THAT(table[7], ContainsRegex("in the worst second +3.00 +1.00"));
  EXPECT_THAT(table[8], ContainsRegex("recovery time +not within 6.0 s +0.0 s"));
}

TEST(Introduction, SaysWhatIsCompared) {
  EXPECT_THAT(Introduction(kSchedule, Capacity::For(400), 0.5)[0],
              HasSubstr("12 s each; in the storm, 4.0 s"));
}

}  // namespace
}  // namespace levee::demo
