// SPDX-License-Identifier: Apache-2.0
// Both hosts of a Call, the network's and the simulator's, do the same: the production worker on
// virtual time beside the simulated sidecar, over the same cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/services.h"
#include "sim/twin_case.h"

namespace levee {
namespace {

// The sanitizers slow the worker down tenfold.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 1000;
#else
constexpr uint64_t kSeeds = 4000;
#endif

using Attempts = std::vector<Observed::Attempt>;

// As long as there is an endpoint on which the call has not failed yet, each attempt goes to one;
// after that the hosts choose by lot.
void ExpectFreshEndpointsFirst(const TwinCase& twin, const Attempts& attempts) {
  const size_t fresh = std::min(attempts.size(), static_cast<size_t>(twin.endpoints));
  std::set<int> taken;
  for (size_t i = 0; i < fresh; ++i) taken.insert(attempts[i].endpoint);
  EXPECT_EQ(taken.size(), fresh);
}

bool MarksEndpoint(const Answer& answer) {
  for (const Answer::Step& step : answer.steps()) {
    for (const auto& [name, value] : step.fields) {
      if (name == "levee-overload" && value.starts_with("endpoint")) return true;
    }
  }
  return false;
}

// No attempt goes to an endpoint that has said "not this instance" to the call.
void ExpectForbiddenIsKept(const TwinCase& twin, size_t call, const Attempts& attempts) {
  // Hedged attempts begin before the others have answered.
  if (!twin.overload.honor.levee || twin.policy.hedge.has_value()) return;
  std::set<int> forbidden;
  const std::vector<Answer>& answers = twin.calls[call].answers;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const auto& [endpoint, cancelled] = attempts[i];
    EXPECT_FALSE(forbidden.contains(endpoint)) << "attempt " << i + 1 << " of call " << call;
    const bool marked = MarksEndpoint(answers[std::min(i, answers.size() - 1)]);
    if (marked && !cancelled) forbidden.insert(endpoint);
  }
}

// False if the case says nothing.
bool ExpectTwins(const TwinCase& twin) {
  const Observed real = RunReal(twin);
  EXPECT_TRUE(real.traced);
  if (real.tied) return false;
  const Observed simulated = RunSimulated(twin);
  EXPECT_EQ(real.text, simulated.text);
  for (const Observed* host : {&real, &simulated}) {
    for (size_t call = 0; call < host->attempts.size(); ++call) {
      ExpectFreshEndpointsFirst(twin, host->attempts[call]);
      ExpectForbiddenIsKept(twin, call, host->attempts[call]);
    }
  }
  return true;
}

TEST(Differential, TheHostsDoTheSameOverThousandsOfSeeds) {
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    compared += ExpectTwins(RandomTwinCase(seed)) ? 1 : 0;
  }
  EXPECT_GT(compared, kSeeds * 98 / 100);
}

// The case in which the simulator once made 2 attempts and refused, and the sidecar 3.
TEST(Differential, AMarkOfScopeEndpointSendsTheCallBackToTheOneThatOnlyFailed) {
  TwinCase twin;
  twin.policy.retry.backoff.jitter = Jitter::kNone;
  twin.policy.retry.codes.Add(StatusCode::kUnavailable);
  twin.policy.retry.budget.floor_per_second = 1000;
  twin.endpoints = 2;
  twin.calls.push_back({.body = "ping",
                        .answers = {TrailersOnly(StatusCode::kUnavailable),
                                    TrailersOnly(StatusCode::kUnavailable,
                                                 {{"levee-overload", "endpoint;reason=queue"}}),
                                    Ok()}});
  EXPECT_TRUE(ExpectTwins(twin));
  const Observed simulated = RunSimulated(twin);
  const Attempts& attempts = simulated.attempts[0];
  ASSERT_EQ(attempts.size(), 3u) << simulated.text;
  EXPECT_EQ(attempts[2].endpoint, attempts[0].endpoint);
}

TwinCase HedgesThatWait(const std::vector<Answer>& answers) {
  TwinCase twin;
  twin.policy.idempotency = IdempotencyMode::kAlways;
  twin.policy.hedge = HedgePolicy{.delay = absl::Milliseconds(5), .max_attempts = 4};
  twin.policy.hedge->non_fatal.Add(StatusCode::kUnavailable);
  twin.policy.retry.max_attempts = 1;
  twin.policy.retry.budget.burst_least = 1;
  twin.policy.retry.exhausted = ExhaustedMode::kKeep;
  twin.calls.push_back({.body = "ping", .answers = answers});
  return twin;
}

// The case in which the sidecar once ended its process: the second attempt's end is the success
// that pays for the retry of the first one, and it ends the call.
TEST(Differential, AHedgeThatEndsItsCallWhileARetryOfItWaitsStartsNothing) {
  const TwinCase twin =
      HedgesThatWait({Answer().Trailers(absl::Milliseconds(10), StatusCode::kUnavailable, "busy"),
                      Answer().Trailers(absl::Milliseconds(20), StatusCode::kNotFound, "none")});
  EXPECT_TRUE(ExpectTwins(twin));
  EXPECT_EQ(RunSimulated(twin).attempts[0].size(), 2u);
}

// The case in which the sidecar once answered without a status.
TEST(Differential, ACallWhoseRetryWaitsInVainEndsByTheLastAttemptThatFailed) {
  const TwinCase twin = HedgesThatWait(
      {Answer().Trailers(absl::Milliseconds(10), StatusCode::kUnavailable, "first"),
       Answer().Trailers(absl::Milliseconds(20), StatusCode::kUnavailable, "second")});
  EXPECT_TRUE(ExpectTwins(twin));
  EXPECT_THAT(RunReal(twin).text, ::testing::HasSubstr("second"));
}

TEST(Differential, ACallThatReachesNobodyLearnsWhyAndHasTheMark) {
  TwinCase twin;
  twin.reachable = false;
  twin.policy.retry.backoff.jitter = Jitter::kNone;
  for (int i = 0; i < 3; ++i) {
    twin.calls.push_back(
        {.at = absl::Seconds(i), .timeout = absl::Seconds(2), .body = "ping", .answers = {Ok()}});
  }
  EXPECT_TRUE(ExpectTwins(twin));
  const std::string text = RunReal(twin).text;
  EXPECT_THAT(text, ::testing::HasSubstr("refused budget mark sent scope"));
  EXPECT_THAT(text, ::testing::HasSubstr(kNotReachable));
  EXPECT_THAT(text, ::testing::HasSubstr("levee-overload=service;reason=budget"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("overloaded, do not retry")));
}

TEST(Differential, ACallThatWaitsForAConnectionInVainDoesSoOnce) {
  TwinCase twin;
  twin.reachable = false;
  twin.connect_wait = absl::Milliseconds(300);
  twin.policy.retry.max_attempts = 1;
  twin.calls.push_back({.body = "ping", .answers = {Ok()}});
  twin.calls.push_back({.at = absl::Milliseconds(500),
                        .timeout = absl::Milliseconds(100),
                        .body = "ping",
                        .answers = {Ok()}});
  EXPECT_TRUE(ExpectTwins(twin));
  EXPECT_THAT(RunReal(twin).text, ::testing::HasSubstr("waited 300 ms for a connection; "));
}

TEST(Differential, ABrokenCallEndsAloneWithInternal) {
  TwinCase twin;
  twin.calls.push_back({.at = absl::Milliseconds(0), .body = "ping", .answers = {Silence()}});
  twin.calls.push_back({.at = absl::Milliseconds(20), .body = "ping", .answers = {Ok()}});
  twin.breaks_at = absl::Milliseconds(10);
  const Observed real = RunReal(twin);
  EXPECT_EQ(real.broken_calls, 1u);
  EXPECT_THAT(real.text, ::testing::HasSubstr("broke a rule of its own"));
  EXPECT_EQ(real.attempts[0].size(), 1u);
  EXPECT_TRUE(real.attempts[0][0].cancelled);
  EXPECT_FALSE(real.attempts[1][0].cancelled);
  EXPECT_THAT(real.text, ::testing::HasSubstr("pong")) << "the other call goes on";
}

}  // namespace
}  // namespace levee
