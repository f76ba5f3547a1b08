// SPDX-License-Identifier: Apache-2.0
// The table of delays: exact where there is a closed form, and always that of the production
// Backoff.
#include "lab/delay_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "config/faults_of.h"
#include "gtest/gtest.h"
#include "lab/delay_distribution.h"

namespace levee {
namespace {

constexpr absl::Duration kNoEnd = absl::InfiniteDuration();

BackoffPolicy BackoffOf(const std::string& fields) {
  return RetryOf("{backoff: {" + fields + "}}").backoff;
}

std::vector<DelayRow> Rows(const std::string& fields, int retries,
                           absl::Duration deadline = kNoEnd) {
  return TabulateDelays(BackoffOf(fields), retries, deadline).rows;
}

double Ms(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

TEST(DelayTable, L1_FullJitterHasTheMomentsOfAUniformNumber) {
  const std::vector<DelayRow> rows = Rows("initial: 100ms, multiplier: 2, max: 300ms", 3);
  const double widths[] = {100, 200, 300};
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Ms(*rows[i].nominal), widths[i]);
    EXPECT_EQ(Ms(rows[i].min), 0);
    EXPECT_NEAR(Ms(rows[i].max), widths[i], 1e-5);
    EXPECT_NEAR(Ms(rows[i].mean), widths[i] / 2, 1e-5);
    EXPECT_NEAR(Ms(rows[i].p50), widths[i] / 2, 1e-5);
    EXPECT_NEAR(Ms(rows[i].p99), 0.99 * widths[i], 1e-5);
  }
}

TEST(DelayTable, L1_EveryJitterHasItsBoundsAndItsMean) {
  struct Expected {
    const char* jitter;
    double min, max, mean;
  };
  for (const Expected& each : {Expected{"none", 100, 100, 100},
                               {"equal", 50, 100, 75},
                               {"{factor: 0.2}", 80, 120, 100},
                               {"{add: 40ms}", 100, 140, 120},
                               {"decorrelated", 100, 300, 200}}) {
    const std::string fields = std::string("initial: 100ms, max: 1s, jitter: ") + each.jitter;
    const DelayRow row = Rows(fields, 1)[0];
    EXPECT_NEAR(Ms(row.min), each.min, 1e-3) << each.jitter;
    const bool drawn = std::string(each.jitter) == "decorrelated";
    EXPECT_NEAR(Ms(row.max), each.max, 1e-3) << each.jitter;
    EXPECT_NEAR(Ms(row.mean), each.mean, drawn ? 1 : 1e-3) << each.jitter;
  }
}

TEST(DelayTable, L1_AMaxBehindTheJitterHoldsBackItsPartOfTheDraws) {
  // Celery's fifth: uniform [0, 16s], and here at most 4 s: a quarter is below, evenly.
  const DelayRow row = Rows("preset: celery, max: 4s", 5)[4];
  EXPECT_EQ(row.max, absl::Seconds(4));
  EXPECT_EQ(row.p50, absl::Seconds(4));
  EXPECT_NEAR(Ms(row.mean), 0.25 * 2000 + 0.75 * 4000, 1e-3);
}

TEST(DelayTable, L1_EthernetWaitsHalfOfItsSlotsOnAverageAndGivesUpAfterAttempt16) {
  const std::vector<DelayRow> rows = Rows("preset: ethernet", 15);
  for (const DelayRow& row : rows) {
    const double slots = std::exp2(std::min(row.n, 10)) - 1;
    EXPECT_EQ(*row.mean_slots, slots / 2);
    EXPECT_NEAR(Ms(*row.nominal), slots / 2 * 0.0512, 1e-6);
    EXPECT_EQ(row.min, absl::ZeroDuration());
    EXPECT_EQ(Ms(row.max), std::ceil(slots * 0.0512));
    double sum = 0;  // of what each number of slots takes, as the timer rounds it
    for (double k = 0; k <= slots; ++k) sum += std::ceil(k * 0.0512);
    EXPECT_NEAR(Ms(row.mean), sum / (slots + 1), 1e-6) << row.n;
  }
}

TEST(DelayTable, SlotsTooManyToCountHaveTheSameFigures) {
  const DelayRow row = Rows("slot: 1ms, truncate: 30", 30)[29];
  EXPECT_EQ(*row.mean_slots, (std::exp2(30) - 1) / 2);
  EXPECT_EQ(row.mean, absl::Milliseconds((std::exp2(30) - 1) / 2));
}

TEST(DelayTable, ASchedulesDelaysAddUpExactly) {
  const std::vector<DelayRow> rows = Rows("schedule: [1s, 2s, 4s]", 4, absl::Seconds(7));
  EXPECT_EQ(rows[2].total_p99, absl::Seconds(7));
  EXPECT_EQ(rows[3].total_max, absl::Seconds(11));
  EXPECT_EQ(rows[1].past_deadline, 0);
  EXPECT_EQ(rows[2].past_deadline, 1);  // A retry at the deadline itself is too late.
}

TEST(DelayTable, TwoUniformDelaysReachADeadlineByTheTriangleBetweenThem) {
  // Uniform [0, 100) + uniform [0, 200): at least 250 with 50^2 / 2 of 100 x 200.
  const std::vector<DelayRow> rows =
      Rows("initial: 100ms, multiplier: 2, max: 1s", 2, absl::Milliseconds(250));
  EXPECT_EQ(rows[0].past_deadline, 0);
  EXPECT_NEAR(rows[1].past_deadline, 0.0625, 1e-5);
  // The hundredth above p99: (300 - p99)^2 / 2 = 200.
  EXPECT_NEAR(Ms(rows[1].total_p99), 280, 0.05);
}

TEST(DelayTable, SmallSumsAreNotBlurredByTheLargeOnesThatFollow) {
  const std::string fields = "initial: 1ms, multiplier: 1000, max: 8000h";
  for (const int retries : {2, 30}) {
    const DelayRow row = Rows(fields, retries, absl::Milliseconds(500))[1];
    EXPECT_NEAR(Ms(row.total_p99), 990.5, 0.5) << retries;
    EXPECT_NEAR(row.past_deadline, 0.5005, 1e-4) << retries;
  }
  // One of these in a hundred is above; the others of its row add nearly nothing.
  EXPECT_NEAR(Ms(Rows(fields, 30)[2].total_p99), 990'500, 100);
}

// The figures of sums as draws of the production object have them.
class OfDraws : public testing::TestWithParam<const char*> {};

TEST_P(OfDraws, SumsAreThoseOfTheProductionBackoff) {
  constexpr int kRetries = 6;
  constexpr size_t kDraws = 20'000;
  const BackoffPolicy policy = BackoffOf(GetParam());
  Random random(7);
  std::vector<absl::Duration> totals(kDraws);
  for (absl::Duration& total : totals) {
    Backoff backoff;
    for (int n = 0; n < kRetries; ++n) total += backoff.Next(policy, random);
  }
  std::sort(totals.begin(), totals.end());
  const absl::Duration median = totals[kDraws / 2];
  const DelayRow row = TabulateDelays(policy, kRetries, median).rows[kRetries - 1];
  // Six standard deviations of a share of one half.
  EXPECT_NEAR(row.past_deadline, 0.5, 6 * 0.5 / std::sqrt(kDraws));
  EXPECT_NEAR(Ms(row.total_p99), Ms(totals[kDraws * 99 / 100]), 0.02 * Ms(totals.back()));
  EXPECT_LE(totals.back(), row.total_max);
}

INSTANTIATE_TEST_SUITE_P(Policies, OfDraws,
                         testing::Values("preset: grpc", "preset: google-cloud",
                                         "preset: google-http", "preset: aws-simpledb",
                                         "preset: full-jitter-100ms", "preset: celery, max: 4s",
                                         "preset: ethernet", "preset: vital", "preset: aws-2026",
                                         "preset: linkerd", "jitter: equal",
                                         "slot: 700ms, truncate: 4", "jitter: decorrelated"));

TEST(DelayTable, OnlyDelaysThatDependOnOneAnotherAreDrawn) {
  EXPECT_EQ(TabulateDelays(BackoffOf("preset: grpc"), 9, kNoEnd).draws, 0);
  EXPECT_GT(TabulateDelays(BackoffOf("jitter: decorrelated"), 2, kNoEnd).draws, 0);
}

TEST(DelayTable, MaxElapsedIsWhenTheLastRetryMayStart) {
  const std::vector<DelayRow> rows = Rows("schedule: [1s, 2s], max_elapsed: 3s", 3);
  EXPECT_EQ(rows[1].past_elapsed, 0);  // at 3 s itself
  EXPECT_EQ(rows[2].past_elapsed, 1);
}

TEST(DelayDistribution, EachFigureIsThatOfAllItsValues) {
  // Slots of 3 ns rounded up to 4 ns, at most 17 ns above nothing.
  const DelayDistribution delay({.least = absl::Nanoseconds(2),
                                 .step = absl::Nanoseconds(3),
                                 .steps = 8,
                                 .tick = absl::Nanoseconds(4),
                                 .most = absl::Nanoseconds(17)});
  const std::vector<double> values = {2, 6, 10, 14, 14, 17, 17, 17};
  EXPECT_NEAR(absl::ToDoubleNanoseconds(delay.Mean()),
              std::accumulate(values.begin(), values.end(), 0.0) / 8, 0.25);
  for (int bound = 0; bound <= 20; ++bound) {
    double shortfall = 0;
    double from = 0;
    for (const double value : values) {
      shortfall += std::max(bound - value, 0.0) / 8;
      from += value >= bound ? 1.0 / 8 : 0;
    }
    EXPECT_NEAR(delay.MeanShortfall(absl::Nanoseconds(bound)), shortfall, 0.25) << bound;
    EXPECT_EQ(delay.ShareFrom(absl::Nanoseconds(bound)), from) << bound;
  }
  EXPECT_EQ(delay.Quantile(0.5), absl::Nanoseconds(14));
  EXPECT_EQ(delay.Quantile(0.51), absl::Nanoseconds(14));
  EXPECT_EQ(delay.Quantile(0.7), absl::Nanoseconds(17));
}

}  // namespace
}  // namespace levee
