// SPDX-License-Identifier: Apache-2.0
#include "insight/history.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Gauges = std::vector<BudgetGauges>;

Gauges Available(double available) {
  return {{.upstream = "cart", .available = available, .limit = 10, .ratio = 0.1}};
}

std::vector<UpstreamTotals> Calls(uint64_t calls) {
  return {{.upstream = "cart", .calls = calls, .attempts = 2 * calls}};
}

TEST(History, ASampleIsWhatItsSecondAdded) {
  History history;
  EXPECT_EQ(history.second(), 0u);
  history.Add(1, Calls(10), Available(4));
  history.Add(2, Calls(13), Available(3));
  const auto samples = history.Samples("cart", 0);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].second, 1u);
  EXPECT_EQ(samples[0].added.calls, 10u);
  EXPECT_EQ(samples[1].added.calls, 3u);
  EXPECT_EQ(samples[1].added.attempts, 6u);
  EXPECT_EQ(samples[1].budget.available, 3);
  EXPECT_EQ(history.second(), 2u);
}

TEST(History, EveryNumberIsADifference) {
  UpstreamTotals first{.upstream = "cart"}, second{.upstream = "cart"};
  uint64_t n = 0;
  for (UpstreamTotals* totals : {&first, &second}) {
    for (uint64_t* number :
         {&totals->calls, &totals->calls_ok, &totals->attempted, &totals->attempts,
          &totals->attempts_ok, &totals->retries, &totals->app_retries_admitted,
          &totals->app_retries_refused, &totals->rate_limited, &totals->marks_received,
          &totals->marks_sent, &totals->refused[0], &totals->refused[11], &totals->durations[0],
          &totals->durations[12]}) {
      *number = ++n;
    }
  }
  History history;
  history.Add(1, {first}, {});
  history.Add(2, {second}, {});
  const UpstreamTotals added = history.Samples("cart", 1).at(0).added;
  for (const uint64_t number :
       {added.calls, added.calls_ok, added.attempted, added.attempts, added.attempts_ok,
        added.retries, added.app_retries_admitted, added.app_retries_refused, added.rate_limited,
        added.marks_received, added.marks_sent, added.refused[0], added.refused[11],
        added.durations[0], added.durations[12]}) {
    EXPECT_EQ(number, 15u);
  }
}

TEST(History, SecondsThatWereLeftOutArePartOfTheNext) {
  History history;
  history.Add(1, Calls(10), {});
  history.Add(5, Calls(14), {});
  const auto samples = history.Samples("cart", 1);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].second, 5u);
  EXPECT_EQ(samples[0].added.calls, 4u);
}

TEST(History, OnlyTheLastFiveMinutesAreKept) {
  History history;
  for (uint32_t second = 1; second <= 310; ++second) history.Add(second, Calls(second), {});
  const auto samples = history.Samples("cart", 0);
  ASSERT_EQ(samples.size(), 300u);
  EXPECT_EQ(samples.front().second, 11u);
  EXPECT_EQ(samples.back().second, 310u);
}

TEST(History, AnUpstreamThatAReloadBroughtCountsFromZero) {
  History history;
  history.Add(1, Calls(10), {});
  std::vector<UpstreamTotals> totals = Calls(11);
  totals.push_back({.upstream = "stock", .calls = 7});
  history.Add(2, totals, {});
  EXPECT_EQ(history.CalledUpstreams(), (std::vector<std::string>{"cart", "stock"}));
  EXPECT_EQ(history.Samples("stock", 0).at(0).added.calls, 7u);
  EXPECT_TRUE(history.Samples("unknown", 0).empty());
}

TEST(History, IdleSecondsAreSamplesToo) {
  History history;
  history.Add(1, Calls(10), Available(4));
  for (uint32_t second = 2; second <= 5; ++second) history.Add(second, Calls(10), Available(5));
  history.Add(6, Calls(10), Available(6));
  history.Add(8, Calls(10), Available(6));
  std::vector<std::string> samples;
  for (const HistorySample& sample : history.Samples("cart", 2)) {
    samples.push_back(std::to_string(sample.second) + ":" + std::to_string(sample.added.calls) +
                      ":" + std::to_string(static_cast<int>(sample.budget.available)));
  }
  EXPECT_EQ(samples, (std::vector<std::string>{"3:0:5", "4:0:5", "5:0:5", "6:0:6", "8:0:6"}));
}

TEST(History, SamplesAreCountedAsTheyAreGiven) {
  History history;
  history.Add(1, Calls(10), {});
  for (uint32_t second = 2; second <= 5; ++second) history.Add(second, Calls(10), {});
  history.Add(7, Calls(11), {});
  for (uint32_t since = 0; since <= 8; ++since) {
    EXPECT_EQ(history.CountSamples("cart", since), history.Samples("cart", since).size()) << since;
  }
  EXPECT_EQ(history.CountSamples("cart", 0), 6u);
  EXPECT_EQ(history.CountSamples("cart", 4'000'000'000), 0u);
  EXPECT_EQ(history.CountSamples("unknown", 0), 0u);
}

TEST(History, IdleSecondsGoOneByOneAsTheyGetOld) {
  History history;
  for (uint32_t second = 1; second <= 400; ++second) history.Add(second, Calls(10), {});
  const auto samples = history.Samples("cart", 0);
  ASSERT_EQ(samples.size(), 300u);
  EXPECT_EQ(samples.front().second, 101u);
  EXPECT_EQ(samples.back().second, 400u);
}

TEST(History, WithManyBusyUpstreamsItReachesLessFarBack) {
  History history;
  std::vector<UpstreamTotals> totals(500);
  for (size_t i = 0; i < totals.size(); ++i) totals[i].upstream = std::to_string(i);
  for (uint32_t second = 1; second <= 310; ++second) {
    for (UpstreamTotals& total : totals) ++total.calls;
    history.Add(second, totals, {});
  }
  EXPECT_EQ(history.CountSamples("0", 0), History::kMaxStretches / 500);
  EXPECT_EQ(history.CountSamples("499", 0), History::kMaxStretches / 500);
  EXPECT_EQ(history.Samples("0", 309).at(0).added.calls, 1u);
}

TEST(History, TenSecondsAreKeptOfHoweverManyUpstreams) {
  History history;
  std::vector<UpstreamTotals> totals(History::kMaxStretches / 5);
  for (size_t i = 0; i < totals.size(); ++i) totals[i].upstream = std::to_string(i);
  for (uint32_t second = 1; second <= 12; ++second) {
    for (UpstreamTotals& total : totals) ++total.calls;
    history.Add(second, totals, {});
  }
  EXPECT_EQ(history.CountSamples("0", 0), 10u);
}

TEST(History, KnowsWhenAnUpstreamWasCalledLast) {
  History history;
  history.Begin(3, Calls(10));
  EXPECT_EQ(history.LastCalled("cart"), 0u);
  history.Add(4, Calls(11), {});
  for (uint32_t second = 5; second <= 303; ++second) history.Add(second, Calls(11), {});
  EXPECT_EQ(history.LastCalled("cart"), 4u);
  EXPECT_EQ(history.CalledUpstreams(), std::vector<std::string>{"cart"});
  history.Add(304, Calls(11), {});
  EXPECT_EQ(history.LastCalled("cart"), 0u);
  EXPECT_TRUE(history.CalledUpstreams().empty());
  EXPECT_EQ(history.LastCalled("unknown"), 0u);
}

TEST(History, AnUpstreamThatIsCountedNoMoreIsForgottenWithItsLastSample) {
  History history;
  history.Add(1, Calls(10), {});
  history.Add(299, {}, {});
  EXPECT_EQ(history.CountSamples("cart", 0), 1u);
  history.Add(300, Calls(13), {});
  EXPECT_EQ(history.Samples("cart", 1).at(0).added.calls, 3u) << "it has been remembered";
  for (uint32_t second = 301; second <= 600; ++second) history.Add(second, {}, {});
  EXPECT_EQ(history.CountSamples("cart", 0), 0u);
  history.Add(601, Calls(14), {});
  EXPECT_EQ(history.Samples("cart", 0).at(0).added.calls, 14u) << "it counts from zero";
}

TEST(History, AnUpstreamThatIsCountedButIdleCountsOn) {
  History history;
  history.Add(1, Calls(10), {});
  history.Add(1000, Calls(10), {});
  history.Add(2000, Calls(12), {});
  EXPECT_EQ(history.Samples("cart", 0).at(0).added.calls, 2u);
}

TEST(History, WhatWasBeforeAPauseIsNoPartOfASum) {
  History history;
  history.Begin(0, Calls(0));
  EXPECT_EQ(history.SecondsSeen(10), 1);
  for (uint32_t second = 1; second <= 20; ++second) history.Add(second, Calls(10 * second), {});
  EXPECT_EQ(history.SecondsSeen(10), 10);
  history.Begin(24, Calls(500));
  EXPECT_EQ(history.Sum("cart", 10).added.calls, 0u);
  history.Add(25, Calls(507), {});
  EXPECT_EQ(history.Sum("cart", 10).added.calls, 7u);
  EXPECT_EQ(history.SecondsSeen(10), 1);
}

TEST(History, SumsTheLastSeconds) {
  History history;
  for (uint32_t second = 1; second <= 20; ++second) {
    history.Add(second, Calls(10 * second), Available(second));
  }
  EXPECT_EQ(history.Sum("cart", 10).added.calls, 100u);
  EXPECT_EQ(history.Sum("cart", 10).budget.available, 20);
  EXPECT_EQ(history.Sum("cart", 100).added.calls, 200u);
  EXPECT_EQ(history.Sum("unknown", 10).added.calls, 0u);
}

TEST(History, OfSeveralBudgetsTheOneWithTheLeastAvailableSpeaks) {
  History history;
  history.Add(
      1, Calls(1),
      {{.upstream = "cart", .available = 5, .limit = 5, .ratio = 0.1},
       {.upstream = "cart", .available = 2, .at_once = 3, .limit = 9, .floor_withheld = true},
       {.upstream = "cart", .available = 7, .limit = 7, .ratio = 0.3}});
  const BudgetState budget = history.Sum("cart", 10).budget;
  EXPECT_EQ(budget.available, 2);
  EXPECT_EQ(budget.limit, 9);
  EXPECT_EQ(budget.at_once, 3);
  EXPECT_TRUE(budget.floor_withheld);
  EXPECT_EQ(budget.ratio, 0.3);
}

TEST(History, TheBudgetIsEmptySinceTheLastSecondWithARetryLeft) {
  History history;
  EXPECT_EQ(history.SecondsEmpty("cart"), 0);
  history.Add(1, Calls(1), Available(1));
  EXPECT_EQ(history.SecondsEmpty("cart"), 0);
  history.Add(2, Calls(2), Available(0.9));
  EXPECT_EQ(history.SecondsEmpty("cart"), 1);
  history.Add(6, Calls(3), Available(0));
  EXPECT_EQ(history.SecondsEmpty("cart"), 5);
  history.Add(7, Calls(4), Available(1.5));
  EXPECT_EQ(history.SecondsEmpty("cart"), 0);
}

TEST(History, ABudgetThatHasBeenEmptyForLongIsSoForAsLongAsIsKept) {
  History history;
  for (uint32_t second = 1; second <= 400; ++second) {
    history.Add(second, Calls(second), Available(0));
  }
  EXPECT_EQ(history.SecondsEmpty("cart"), 300);
}

TEST(History, ABudgetIsNotKnownToBeEmptyDuringAPause) {
  History history;
  history.Begin(0, Calls(0));
  history.Add(1, Calls(1), Available(0));
  history.Begin(40, Calls(1));
  EXPECT_EQ(history.SecondsEmpty("cart"), 0);
  history.Add(41, Calls(2), Available(0));
  history.Add(42, Calls(3), Available(0));
  EXPECT_EQ(history.SecondsEmpty("cart"), 2);
}

TEST(History, ABudgetThatNobodyNeedsIsNotEmpty) {
  History history;
  history.Add(1, Calls(0), Available(0));
  history.Add(2, Calls(0), Available(0));
  EXPECT_EQ(history.SecondsEmpty("cart"), 0);
}

TEST(Percentile, IsInterpolatedWithinItsBucket) {
  UpstreamTotals added;
  added.durations[1] = 50;  // 1 ms to 2.5 ms
  added.durations[3] = 50;  // 5 ms to 10 ms
  EXPECT_EQ(Percentile(added, 0.25), absl::Microseconds(1750));
  EXPECT_EQ(Percentile(added, 0.5), absl::Microseconds(2500));
  EXPECT_EQ(Percentile(added, 0.99), absl::Microseconds(9900));
}

TEST(Percentile, OfTheUnboundedBucketIsItsLowerBound) {
  UpstreamTotals added;
  added.durations[12] = 1;
  EXPECT_EQ(Percentile(added, 0.5), absl::Seconds(10));
}

TEST(Percentile, WithoutCallsIsZero) {
  EXPECT_EQ(Percentile(UpstreamTotals(), 0.99), absl::ZeroDuration());
}

TEST(Amplification, IsAttemptsForEachAttemptedCallThatIsNoRetryOfTheApplication) {
  EXPECT_EQ(Amplification({}), 1);
  EXPECT_EQ(Amplification({.calls = 10, .attempted = 10, .attempts = 11}), 1.1);
  EXPECT_EQ(Amplification({.calls = 10,
                           .attempted = 9,
                           .attempts = 12,
                           .app_retries_admitted = 1,
                           .app_retries_refused = 1}),
            1.5);
}

TEST(Amplification, CallsThatWereRefusedBeforeAnAttemptDoNotHideIt) {
  EXPECT_EQ(Amplification({.calls = 100, .attempted = 10, .attempts = 15, .rate_limited = 90}),
            1.5);
  EXPECT_EQ(Amplification({.calls = 90, .rate_limited = 90}), 1);
}

TEST(Amplification, IsNotKnownIfAllCallsAreRetriesOfTheApplication) {
  EXPECT_EQ(
      Amplification({.calls = 10, .attempted = 10, .attempts = 10, .app_retries_admitted = 10}), 1);
  EXPECT_EQ(Amplification({.calls = 2, .attempted = 2, .attempts = 3, .app_retries_admitted = 3}),
            1)
      << "counters are read one after the other";
}

TEST(History, WaitsAndTheThrottleHaveSamples) {
  History history;
  history.Begin(0, {});
  std::vector<UpstreamTotals> totals = Calls(4);
  totals[0].waits_released = 3;
  totals[0].waits_expired = 1;
  totals[0].throttle_observed = 2;
  const std::string upstream = totals[0].upstream;
  history.Add(1, totals,
              {{.upstream = upstream, .available = 1, .waiting = 2},
               {.upstream = upstream, .available = 0, .waiting = 3}},
              {{upstream, 0.25}});
  history.Add(2, totals, {{.upstream = upstream}}, {{upstream, 0.0}});
  const auto samples = history.Samples(upstream, 0);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].budget.waiting, 5);
  EXPECT_EQ(samples[0].throttle_probability, 0.25);
  EXPECT_EQ(samples[0].added.waits_released, 3u);
  EXPECT_EQ(samples[1].budget.waiting, 0);
  EXPECT_EQ(samples[1].throttle_probability, 0);
  const HistorySample sum = history.Sum(upstream, 10);
  EXPECT_EQ(sum.added.waits_expired, 1u);
  EXPECT_EQ(sum.added.throttle_observed, 2u);
  EXPECT_EQ(sum.throttle_probability, 0);
}

TEST(History, AGuardHasSamplesOfItsStateAndItsDecisions) {
  History history;
  history.Begin(0, {});
  std::vector<UpstreamTotals> totals = Calls(4);
  const std::string upstream = totals[0].upstream;
  const GuardState full = {.limit = 8, .in_flight = 8, .waiting = 3, .stands = true};
  const GuardState idle = {.limit = 8};
  history.Add(1, totals, {}, {}, {{upstream, full}});
  totals[0].guard_admitted = 5;
  totals[0].guard_refused[static_cast<size_t>(GuardReason::kQueue)] = 2;
  totals[0].guard_arrivals = {6, 1, 0, 0};
  history.Add(2, totals, {}, {}, {{upstream, full}});
  history.Add(3, totals, {}, {}, {{upstream, idle}});
  history.Add(4, totals, {}, {}, {{upstream, idle}});
  history.Add(5, totals, {}, {}, {});
  const auto samples = history.Samples(upstream, 0);
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[0].guard, full);
  EXPECT_EQ(samples[1].added.guard_admitted, 5u);
  EXPECT_EQ(samples[2].guard, idle) << "nothing happened, but the state is another";
  EXPECT_EQ(samples[3].guard, idle);
  EXPECT_EQ(samples[4].guard, std::nullopt);
  const HistorySample sum = history.Sum(upstream, 10);
  EXPECT_EQ(sum.added.guard_refused[static_cast<size_t>(GuardReason::kQueue)], 2u);
  EXPECT_EQ(sum.added.guard_arrivals[1], 1u);
  EXPECT_EQ(sum.guard, std::nullopt);
}

}  // namespace
}  // namespace levee
