// SPDX-License-Identifier: Apache-2.0
// What an SRE reads first.
#include "insight/verdict.h"

#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr EndpointCounts kThreeReady = {.all = 3, .ready = 3};
constexpr EndpointCounts kOneOfThreeFails = {.all = 3, .ready = 2, .failing = 1};

// The events of ten seconds: `added`, and the other inputs of the sentence.
struct Case {
  UpstreamTotals added = {};
  BudgetState budget = {.available = 10, .limit = 10, .ratio = 0.1};
  int seconds_empty = 0;
  EndpointCounts endpoints = kThreeReady;
  std::optional<GuardState> guard = {};

  Verdict Judged() const {
    return Judge({.added = added, .budget = budget, .guard = guard}, 10, seconds_empty, endpoints);
  }
};

UpstreamTotals WithRefused(UpstreamTotals added, RefusalReason reason, uint64_t count) {
  added.refused[static_cast<size_t>(reason)] = count;
  return added;
}

// All is well, at `calls` in ten seconds.
UpstreamTotals AllOk(uint64_t calls) {
  return {.calls = calls,
          .calls_ok = calls,
          .attempted = calls,
          .attempts = calls,
          .attempts_ok = calls};
}

void ExpectVerdict(const Case& given, Severity severity, const std::string& text) {
  const Verdict verdict = given.Judged();
  EXPECT_EQ(verdict.text, text);
  EXPECT_EQ(verdict.severity, severity) << text;
  EXPECT_LE(verdict.text.size(), kMaxVerdictBytes);
}

TEST(Verdict, AllIsWell) {
  ExpectVerdict({.added = AllOk(1200)}, Severity::kCalm, "calm: 120 calls/s, 100% OK");
}

TEST(Verdict, SlowRatesAreNoZero) {
  ExpectVerdict({.added = AllOk(15)}, Severity::kCalm, "calm: 1.5 calls/s, 100% OK");
  ExpectVerdict({.added = AllOk(1)}, Severity::kCalm, "calm: 0.1 calls/s, 100% OK");
  EXPECT_EQ(Judge({.added = AllOk(1)}, 60, 0, {}).text, "calm: under 0.1 calls/s, 100% OK");
}

TEST(Verdict, NobodyCalls) {
  ExpectVerdict({}, Severity::kCalm, "no calls");
  ExpectVerdict({.endpoints = {}}, Severity::kCalm, "no calls");
  ExpectVerdict({.endpoints = kOneOfThreeFails}, Severity::kContained,
                "no calls; 1 of 3 endpoints is failing");
  ExpectVerdict({.endpoints = {.all = 2, .failing = 2}}, Severity::kContained,
                "no calls; every endpoint is failing");
}

TEST(Verdict, AFewFailuresAreNoise) {
  UpstreamTotals added = AllOk(10'000);
  added.calls_ok = added.attempts_ok = 9'996;
  ExpectVerdict({.added = added}, Severity::kCalm, "calm: 1000 calls/s, 99.96% OK");
}

TEST(Verdict, RoundingNeverSaysAllOrNone) {
  UpstreamTotals added = AllOk(1'000'000);
  added.calls_ok = added.attempts_ok = 999'999;
  EXPECT_EQ(Case{.added = added}.Judged().text, "calm: 100000 calls/s, 99.99% OK");
  added.calls_ok = added.attempts_ok = 1;
  EXPECT_EQ(Case{.added = added}.Judged().text,
            "callers see failures; upstream 0.01% OK, callers 0.01%, all 3 endpoints connected, "
            "100000 calls/s");
}

TEST(Verdict, AStormThatTheBudgetContains) {
  const UpstreamTotals added = WithRefused({.calls = 1000,
                                            .calls_ok = 920,
                                            .attempted = 1000,
                                            .attempts = 1090,
                                            .attempts_ok = 338,
                                            .retries = 90},
                                           RefusalReason::kBudget, 70);
  ExpectVerdict(
      {.added = added,
       .budget = {.available = 0.4, .limit = 100, .ratio = 0.1, .floor_withheld = true},
       .seconds_empty = 40},
      Severity::kContained,
      "storm contained; upstream 31% OK, callers 92%, amplification 1.09 of at most 1.10, "
      "budget empty for 40 s, all 3 endpoints connected, 100 calls/s");
}

TEST(Verdict, AStormThatHasLastedLong) {
  const UpstreamTotals added = WithRefused({.calls = 1000, .attempted = 1000, .attempts = 1000},
                                           RefusalReason::kBudget, 1000);
  ExpectVerdict(
      {.added = added, .budget = {.limit = 0.5, .ratio = 0.1}, .seconds_empty = 300},
      Severity::kAlarm,
      "upstream failing, load contained; upstream 0% OK, callers 0%, budget empty for 5 min or "
      "more, all 3 endpoints connected, 100 calls/s");
}

TEST(Verdict, ABoundIsNamedOnlyWhereItHolds) {
  UpstreamTotals added = AllOk(1000);
  added.attempts = 1090;
  added.retries = 90;
  Case given = {.added = added};
  EXPECT_NE(given.Judged().text.find("amplification 1.09,"), std::string::npos)
      << given.Judged().text;
  given.budget.floor_withheld = true;
  EXPECT_NE(given.Judged().text.find("amplification 1.09 of at most 1.10"), std::string::npos);
  given.added.attempts = 1200;
  EXPECT_NE(given.Judged().text.find("amplification 1.20,"), std::string::npos);
}

TEST(Verdict, CallersThatSufferAreNotContained) {
  const UpstreamTotals added = WithRefused({.calls = 1000,
                                            .calls_ok = 500,
                                            .attempted = 1000,
                                            .attempts = 1090,
                                            .attempts_ok = 490,
                                            .retries = 90},
                                           RefusalReason::kBudget, 500);
  ExpectVerdict(
      {.added = added,
       .budget = {.available = 0.4, .limit = 100, .ratio = 0.1, .floor_withheld = true},
       .seconds_empty = 40},
      Severity::kAlarm,
      "upstream failing, load contained; upstream 45% OK, callers 50%, amplification 1.09 of at "
      "most 1.10, budget empty for 40 s, all 3 endpoints connected");
}

TEST(Verdict, ABudgetOfZeroContainsNothing) {
  const UpstreamTotals added =
      WithRefused({.calls = 100, .attempted = 100, .attempts = 100}, RefusalReason::kBudget, 100);
  ExpectVerdict({.added = added, .budget = {}, .seconds_empty = 300, .endpoints = {}},
                Severity::kAlarm,
                "callers see failures; upstream 0% OK, callers 0%, budget allows no retries, 10 "
                "calls/s");
}

// The application repeats what did not fail.
TEST(Verdict, RefusalsOfAHealthyUpstreamAreNoStorm) {
  UpstreamTotals added = WithRefused(AllOk(1000), RefusalReason::kBudget, 20);
  added.calls_ok = added.attempts = added.attempts_ok = 980;
  added.app_retries_refused = 20;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kContained,
                "callers see failures; upstream 100% OK, callers 98%, budget at times used up, the "
                "application retries by itself: 2% of calls, 20 of them refused, 100 calls/s");
}

TEST(Verdict, CancelledCallsSpeakNeitherWellNorIll) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempts_ok = 0;
  added.calls_cancelled = added.attempts_cancelled = 900;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kAlarm,
                "callers see failures; upstream 0% OK, callers 0%, 90% cancelled by callers, 100 "
                "calls/s");
  added.calls_ok = added.attempts_ok = 100;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kCalm,
                "calm: 100 calls/s, 100% OK, 90% cancelled by callers");
}

TEST(Verdict, FewCancelledCallsAreNotWorthAWord) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempts_ok = 910;
  added.calls_cancelled = added.attempts_cancelled = 90;
  ExpectVerdict({.added = added}, Severity::kCalm, "calm: 100 calls/s, 100% OK");
}

TEST(Verdict, WhereAllIsCancelledThereIsNothingToJudge) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempts_ok = 0;
  added.calls_cancelled = added.attempts_cancelled = 1000;
  ExpectVerdict({.added = added}, Severity::kCalm,
                "every call was cancelled by its caller; 100 calls/s");
}

TEST(Verdict, OneEndpointOfThree) {
  const UpstreamTotals added = {.calls = 1000,
                                .calls_ok = 1000,
                                .attempted = 1000,
                                .attempts = 1080,
                                .attempts_ok = 1000,
                                .retries = 80};
  ExpectVerdict({.added = added, .endpoints = kOneOfThreeFails}, Severity::kContained,
                "1 of 3 endpoints is failing; retries hide it; upstream 93% OK, callers 100%, "
                "amplification 1.08, 100 calls/s");
  ExpectVerdict({.added = AllOk(1000), .endpoints = {.all = 3, .ready = 1, .ejected = 2}},
                Severity::kContained, "2 of 3 endpoints are ejected; 100 calls/s");
}

TEST(Verdict, EveryEndpointFails) {
  const UpstreamTotals added = WithRefused(
      {.calls = 100, .attempted = 100, .attempts = 110, .retries = 10}, RefusalReason::kBudget, 90);
  ExpectVerdict({.added = added,
                 .budget = {.ratio = 0.1, .floor_withheld = true},
                 .seconds_empty = 7,
                 .endpoints = {.all = 3, .ejected = 1, .failing = 2}},
                Severity::kAlarm,
                "every endpoint is failing; upstream 0% OK, callers 0%, amplification 1.10 of at "
                "most 1.10, budget empty for 7 s, 10 calls/s");
  ExpectVerdict({.added = {.calls = 1}, .endpoints = {.all = 1, .failing = 1}}, Severity::kAlarm,
                "the only endpoint is failing; callers 0% OK, 0.1 calls/s");
}

TEST(Verdict, RetriesHideFailures) {
  UpstreamTotals added = AllOk(1000);
  added.attempts = 1050;
  added.retries = 50;
  ExpectVerdict({.added = added}, Severity::kContained,
                "retries hide failures; upstream 95% OK, callers 100%, amplification 1.05, all 3 "
                "endpoints connected, 100 calls/s");
}

TEST(Verdict, FailuresThatAreNotRetriedSayWhy) {
  const UpstreamTotals added = WithRefused(
      {.calls = 1000, .calls_ok = 600, .attempted = 1000, .attempts = 1000, .attempts_ok = 600},
      RefusalReason::kNotIdempotent, 400);
  ExpectVerdict(
      {.added = added}, Severity::kAlarm,
      "callers see failures; upstream 60% OK, callers 60%, 400 retries refused: method not "
      "idempotent, all 3 endpoints connected, 100 calls/s");
}

TEST(Verdict, APolicyThatOnlyObservesSaysSo) {
  const UpstreamTotals added = WithRefused(
      {.calls = 100, .calls_ok = 95, .attempted = 100, .attempts = 100, .attempts_ok = 95},
      RefusalReason::kObserve, 1);
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kContained,
                "callers see failures; upstream 95% OK, callers 95%, 1 retry refused: policy only "
                "observes, 10 calls/s");
}

TEST(Verdict, OneFailureOfFewCallsIsNoAlarm) {
  UpstreamTotals added = AllOk(4);
  added.calls_ok = added.attempts_ok = 3;
  EXPECT_EQ(Case{.added = added}.Judged().severity, Severity::kContained);
  added = AllOk(10);
  added.calls_ok = added.attempts_ok = 7;
  EXPECT_EQ(Case{.added = added}.Judged().severity, Severity::kAlarm);
}

TEST(Verdict, TheApplicationRetriesByItself) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = 700;
  added.attempted = added.attempts = added.attempts_ok = 700;
  added.app_retries_admitted = 100;
  added.app_retries_refused = 300;
  ExpectVerdict(
      {.added = added, .endpoints = {}}, Severity::kAlarm,
      "the application retries by itself: 40% of calls, 300 of them refused; upstream 100% "
      "OK, callers 70%, amplification 1.17, 100 calls/s");
}

TEST(Verdict, AStormOfTheApplicationNamesItFirst) {
  const UpstreamTotals added = WithRefused(
      {.calls = 1000, .attempted = 600, .attempts = 660, .retries = 60, .app_retries_refused = 400},
      RefusalReason::kBudget, 940);
  ExpectVerdict(
      {.added = added, .budget = {.ratio = 0.1}, .seconds_empty = 9}, Severity::kAlarm,
      "upstream failing, load contained; the application retries by itself: 40% of calls, "
      "400 of them refused, upstream 0% OK, callers 0%, amplification 1.10");
}

TEST(Verdict, AmplifiedLoadNamesWhoseRetriesTheyAre) {
  UpstreamTotals added = AllOk(100);
  added.attempts = 250;
  added.attempts_ok = 100;
  added.retries = 150;
  ExpectVerdict(
      {.added = added, .endpoints = {}}, Severity::kContained,
      "load amplified 2.50 times, mostly by Levee's own retries; upstream 40% OK, callers "
      "100%, 10 calls/s");
  added = AllOk(300);
  added.calls_ok = added.attempts_ok = 100;
  added.app_retries_admitted = 200;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kAlarm,
                "load amplified 3.00 times, mostly by the application's retries; the application "
                "retries by itself: 67% of calls, upstream 33% OK, callers 33%, 30 calls/s");
}

TEST(Verdict, AQuietUpstreamWithABadEndpointIsNotCalledAmplified) {
  UpstreamTotals added = AllOk(10);
  added.attempts = 17;
  added.retries = 7;
  EXPECT_EQ(Case{.added = added}.Judged().text.substr(0, 21), "retries hide failures");
}

TEST(Verdict, TheUpstreamSaysOverloaded) {
  UpstreamTotals added = WithRefused(
      {.calls = 1000, .calls_ok = 950, .attempted = 1000, .attempts = 1000, .attempts_ok = 950},
      RefusalReason::kOverloadMark, 50);
  added.marks_received = 50;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kContained,
                "upstream says overloaded; not retried; upstream 95% OK, callers 95%, 100 calls/s");
  added.refused = {};
  added.retries = 50;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kContained,
                "endpoints say overloaded; upstream 95% OK, callers 95%, 100 calls/s");
}

TEST(Verdict, AThrottleRejects) {
  UpstreamTotals added = WithRefused(AllOk(1000), RefusalReason::kThrottle, 300);
  added.calls_ok = added.attempted = added.attempts = added.attempts_ok = 700;
  added.throttle_rejected = 300;
  ExpectVerdict({.added = added}, Severity::kAlarm,
                "upstream overloaded; throttle rejects 30% of calls; upstream 100% OK, callers "
                "70%, 100 calls/s");
}

TEST(Verdict, AThrottleThatObservesIsNoHeadline) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempts_ok = 300;
  added.throttle_observed = 400;
  ExpectVerdict({.added = added}, Severity::kAlarm,
                "callers see failures; upstream 30% OK, callers 30%, throttle would reject 40% of "
                "calls, all 3 endpoints connected, 100 calls/s");
}

// Of 1,000 calls a guard refused 600.
UpstreamTotals MostlyRefusedByGuard(GuardReason reason) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempted = added.attempts = added.attempts_ok = 400;
  added.guard_refused[static_cast<size_t>(reason)] = 600;
  return added;
}

TEST(Verdict, AGuardRefusesBecauseTooManyWait) {
  ExpectVerdict(
      {.added = MostlyRefusedByGuard(GuardReason::kQueue), .guard = GuardState{.limit = 8}},
      Severity::kAlarm,
      "guard refuses 60% of calls: queue too long for 8 slots; upstream 100% OK, callers "
      "40%, 100 calls/s");
}

TEST(Verdict, AGuardRefusesBecauseNoneMayWait) {
  ExpectVerdict(
      {.added = MostlyRefusedByGuard(GuardReason::kConcurrency), .guard = GuardState{.limit = 1}},
      Severity::kAlarm,
      "guard refuses 60% of calls: 1 slot taken, no more may wait; upstream 100% OK, callers "
      "40%, 100 calls/s");
}

TEST(Verdict, AGuardWhoseCallersRetryTellsThemToGiveUp) {
  ExpectVerdict({.added = MostlyRefusedByGuard(GuardReason::kQueue),
                 .guard = GuardState{.limit = 8, .scope = OverloadScope::kService}},
                Severity::kAlarm,
                "guard refuses 60% of calls: queue too long for 8 slots; upstream 100% OK, callers "
                "40%, callers retry and are told to give up, 100 calls/s");
}

TEST(Verdict, AGuardThatRefusesAFewCallsIsNoAlarm) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempted = added.attempts = added.attempts_ok = 950;
  added.guard_refused[static_cast<size_t>(GuardReason::kQueue)] = 50;
  ExpectVerdict({.added = added, .guard = GuardState{.limit = 8}}, Severity::kContained,
                "guard refuses 5% of calls: queue too long for 8 slots; upstream 100% OK, callers "
                "95%, 100 calls/s");
}

TEST(Verdict, AGuardThatObservesIsNoHeadline) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempts_ok = 300;
  added.guard_refused[static_cast<size_t>(GuardReason::kQueue)] = 400;
  const GuardState observing = {.limit = 8, .observes = true, .scope = OverloadScope::kService};
  ExpectVerdict({.added = added, .guard = observing}, Severity::kAlarm,
                "callers see failures; upstream 30% OK, callers 30%, guard would refuse 40% of "
                "calls: queue too long for 8 slots, all 3 endpoints connected, 100 calls/s");
  added.calls_ok = added.attempts_ok = 1000;
  ExpectVerdict({.added = added, .guard = observing}, Severity::kCalm,
                "calm: 100 calls/s, 100% OK, guard would refuse 40% of calls: queue too long for 8 "
                "slots");
}

TEST(Verdict, OfADeadServiceTheGuardIsOneFactAmongOthers) {
  UpstreamTotals added = MostlyRefusedByGuard(GuardReason::kConcurrency);
  added.calls_ok = added.attempts_ok = 0;
  ExpectVerdict(
      {.added = added, .endpoints = {.all = 1, .failing = 1}, .guard = GuardState{.limit = 8}},
      Severity::kAlarm,
      "the only endpoint is failing; upstream 0% OK, callers 0%, guard refuses 60% of "
      "calls: 8 slots taken, no more may wait, 100 calls/s");
}

TEST(Verdict, ARateLimitRefuses) {
  UpstreamTotals added = AllOk(1000);
  added.calls_ok = added.attempted = added.attempts = added.attempts_ok = 700;
  added.rate_limited = 300;
  ExpectVerdict({.added = added}, Severity::kContained,
                "rate limit refuses 30% of calls; upstream 100% OK, callers 70%, 100 calls/s");
}

TEST(Verdict, ALimitDoesNotHideThatCallersSuffer) {
  UpstreamTotals added = AllOk(1000);
  added.attempted = added.attempts = 700;
  added.calls_ok = added.attempts_ok = 100;
  added.rate_limited = 300;
  ExpectVerdict({.added = added, .endpoints = {}}, Severity::kAlarm,
                "rate limit refuses 30% of calls; upstream 14% OK, callers 10%, 100 calls/s");
}

TEST(Verdict, WhatDoesNotFitIsLeftOut) {
  UpstreamTotals added = WithRefused({.calls = 123'456'789'000,
                                      .calls_ok = 99,
                                      .attempted = 123'456'000'000,
                                      .attempts = 199'999'999'999,
                                      .attempts_ok = 99,
                                      .retries = 76'543'999'999,
                                      .app_retries_admitted = 23'456'789'000,
                                      .app_retries_refused = 23'456'789'000,
                                      .rate_limited = 23'456'789'000,
                                      .marks_received = 23'456'789'000},
                                     RefusalReason::kBudget, 23'456'789'000);
  const Verdict verdict =
      Case{.added = added, .seconds_empty = 300, .endpoints = kOneOfThreeFails}.Judged();
  EXPECT_LE(verdict.text.size(), kMaxVerdictBytes);
  EXPECT_EQ(verdict.text.substr(0, 20), "load amplified 2.00 ");
}

}  // namespace
}  // namespace levee
