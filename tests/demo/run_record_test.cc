// SPDX-License-Identifier: Apache-2.0
#include "demo/run_record.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

namespace levee::demo {
namespace {

constexpr Schedule kRunSchedule{absl::Seconds(2), absl::Seconds(3), absl::Seconds(5)};

// 100 calls a second, sampled ten times a second; `percent` of them succeed and each takes
// `attempts` attempts, both by the time of their start in ms.
RunRecord Record(const std::function<int(int)>& percent, const std::function<int(int)>& attempts) {
  RunRecord record(kRunSchedule);
  Sample sample;
  record.Add(sample);
  for (int ms = 0; ms < 10'000; ms += 100) {
    const int ok = percent(ms) / 10;
    sample.at = absl::Milliseconds(ms + 100);
    sample.calls.started += 10;
    sample.calls.ok += ok;
    sample.calls.failed += 10 - ok;
    sample.attempts += 10 * attempts(ms);
    record.Add(sample);
  }
  return record;
}

TEST(Rates, AreDifferencesOverTime) {
  const Sample from{absl::Seconds(1), {.started = 10, .ok = 5, .failed = 1}, 20};
  const Sample to{absl::Seconds(3), {.started = 50, .ok = 20, .failed = 6}, 100};
  const Rates rates = Between(from, to);
  EXPECT_DOUBLE_EQ(rates.calls, 20);
  EXPECT_DOUBLE_EQ(rates.ok, 7.5);
  EXPECT_DOUBLE_EQ(rates.attempts, 40);
  EXPECT_DOUBLE_EQ(rates.success, 0.75);
  EXPECT_DOUBLE_EQ(rates.AttemptsPerCall(), 2);
}

TEST(Rates, OfNothingAreZero) {
  const Rates rates = Between({}, {});
  EXPECT_DOUBLE_EQ(rates.success, 0);
  EXPECT_DOUBLE_EQ(rates.AttemptsPerCall(), 0);
  EXPECT_DOUBLE_EQ(RunRecord(kRunSchedule).Latest(absl::Seconds(1)).calls, 0);
}

TEST(RunRecord, LatestLooksBackFromTheLastSample) {
  const RunRecord record =
      Record([](int ms) { return ms < 9500 ? 0 : 100; }, [](int) { return 1; });
  EXPECT_DOUBLE_EQ(record.Latest(absl::Seconds(1)).success, 0.5);
  EXPECT_DOUBLE_EQ(record.Latest(absl::Milliseconds(500)).success, 1);
}

TEST(RunRecord, AGuardsRatesAreThoseBetweenItsAnswersInTheSpan) {
  RunRecord record(kRunSchedule);
  EXPECT_FALSE(record.LatestGuard().has_value());
  for (const auto& [ms, attempts, refused] :
       {std::tuple{1900, 100, 0}, {2200, 400, 100}, {4700, 3400, 2100}, {5100, 3500, 2100}}) {
    record.AddGuard(
        {absl::Milliseconds(ms),
         {.attempts = static_cast<double>(attempts), .refused = static_cast<double>(refused)}});
  }
  const auto storm = record.GuardOver(absl::Seconds(2), absl::Seconds(5));
  ASSERT_TRUE(storm.has_value());
  EXPECT_DOUBLE_EQ(storm->attempts, 1200);
  EXPECT_DOUBLE_EQ(storm->refused, 800);
  EXPECT_FALSE(record.GuardOver(absl::Seconds(5), absl::Seconds(6)).has_value());
  EXPECT_DOUBLE_EQ(record.LatestGuard()->attempts, 3500);
}

TEST(Summary, SaysWhatEachPhaseCarried) {
  const Summary summary =
      Summarize(Record([](int ms) { return ms < 2000   ? 100
                                           : ms < 5000 ? 50
                                                       : 80; },
                       [](int ms) { return ms < 2000   ? 1
                                           : ms < 5000 ? 2
                                                       : 3; }));
  EXPECT_DOUBLE_EQ(summary.calm_goodput, 100);
  EXPECT_DOUBLE_EQ(summary.storm_goodput, 50);
  EXPECT_DOUBLE_EQ(summary.recovery_goodput, 80);
  EXPECT_DOUBLE_EQ(summary.storm_load, 200);
  EXPECT_DOUBLE_EQ(summary.recovery_load, 300);
  EXPECT_DOUBLE_EQ(summary.amplification, (3 * 2 + 5 * 3) / 8.0);
  EXPECT_DOUBLE_EQ(summary.worst_second, 3);
}

TEST(Summary, RecoveryIsTheStartOfTheFirstGoodSecond) {
  const auto once = [](int) { return 1; };
  EXPECT_EQ(
      Summarize(Record([](int ms) { return ms < 2000 || ms >= 6500 ? 100 : 0; }, once)).recovery,
      absl::Milliseconds(1500));
  EXPECT_EQ(Summarize(Record([](int) { return 100; }, once)).recovery, absl::ZeroDuration());
}

TEST(Summary, AGoodMomentIsNoRecovery) {
  const auto percent = [](int ms) {
    return ms < 2000 || (ms >= 6000 && ms < 6900) || ms >= 9100 ? 100 : 0;
  };
  EXPECT_EQ(Summarize(Record(percent, [](int) { return 3; })).recovery, std::nullopt);
}

TEST(Summary, RecoveryIsMeasuredByTheCalm) {
  const auto percent = [](int ms) { return ms < 2000 || ms >= 7000 ? 90 : 50; };
  EXPECT_EQ(Summarize(Record(percent, [](int) { return 1; })).recovery, absl::Seconds(2));
}

}  // namespace
}  // namespace levee::demo
