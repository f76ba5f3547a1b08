// SPDX-License-Identifier: Apache-2.0
// The rules of peers, as their documents have them.
#include "lab/peer_retries.h"

#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"
#include "lab/scenario_run.h"
#include "sim/app_loop.h"

namespace levee {
namespace {

// A request whose calls all end with `code`. Returns how many there were.
int CallsOf(PeerRetries& peer, StatusCode code) {
  LoopProgress request;
  while (peer.OnEnd(request, code).has_value()) ++request.calls;
  return request.calls;
}

TEST(PeerRetries, GrpcRetriesUnavailableThreeTimesWithItsDelays) {
  PeerRetries peer(GrpcA6(), 1);
  EXPECT_EQ(CallsOf(peer, StatusCode::kInternal), 1);
  LoopProgress request;
  for (const int nominal_ms : {100, 200, 400}) {
    const auto wait = peer.OnEnd(request, StatusCode::kUnavailable);
    ASSERT_TRUE(wait.has_value());
    EXPECT_GE(*wait, absl::Milliseconds(nominal_ms * 0.8));
    EXPECT_LE(*wait, absl::Milliseconds(nominal_ms * 1.2));
    ++request.calls;
  }
  EXPECT_EQ(peer.OnEnd(request, StatusCode::kUnavailable), std::nullopt);
}

TEST(PeerRetries, GrpcRetriesNothingWithHalfOfItsTokens) {
  PeerRetries peer(GrpcA6(), 1);
  // The tokens go from 10 to 6 with the failures of one request, and to 5 with the next.
  EXPECT_EQ(CallsOf(peer, StatusCode::kUnavailable), 4);
  EXPECT_EQ(CallsOf(peer, StatusCode::kUnavailable), 1);
  LoopProgress good;
  for (int i = 0; i < 11; ++i) peer.OnEnd(good, StatusCode::kOk);
  EXPECT_EQ(CallsOf(peer, StatusCode::kUnavailable), 2);  // 6.1, 5.1, and then 4.1
}

TEST(PeerRetries, IstioRetriesTwiceAndHasNoBudget) {
  PeerRetries peer(EnvoyIstio(), 1);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(CallsOf(peer, StatusCode::kUnavailable), 3);
  EXPECT_EQ(CallsOf(peer, StatusCode::kDeadlineExceeded), 1);
  absl::Duration longest[2];
  for (int i = 0; i < 1000; ++i) {
    LoopProgress request;
    longest[0] = std::max(longest[0], *peer.OnEnd(request, StatusCode::kUnavailable));
    ++request.calls;
    longest[1] = std::max(longest[1], *peer.OnEnd(request, StatusCode::kUnavailable));
  }
  EXPECT_NEAR(absl::ToDoubleMilliseconds(longest[0]), 25, 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(longest[1]), 75, 2);
}

TEST(PeerRetries, AwsRetriesUntilItsTokensAreSpentAndGetsThemBack) {
  PeerRetries peer(Aws2026(), 1);
  int retries = 0;
  for (int i = 0; i < 100; ++i) retries += CallsOf(peer, StatusCode::kUnavailable) - 1;
  EXPECT_EQ(retries, 500 / 14);  // 10 tokens are left.
  LoopProgress good;
  for (int i = 0; i < 4; ++i) peer.OnEnd(good, StatusCode::kOk);
  LoopProgress request;
  ASSERT_TRUE(peer.OnEnd(request, StatusCode::kUnavailable).has_value());
  ++request.calls;
  peer.OnEnd(request, StatusCode::kOk);  // The 14 are back.
  EXPECT_EQ(CallsOf(peer, StatusCode::kUnavailable), 2);
}

TEST(PeerRetries, AwsTakesLessForThrottlingAndWaitsLonger) {
  PeerRetries peer(Aws2026(), 1);
  absl::Duration longest;
  int retries = 0;
  for (int i = 0; i < 200; ++i) {
    LoopProgress request;
    const auto wait = peer.OnEnd(request, StatusCode::kResourceExhausted);
    longest = std::max(longest, wait.value_or(absl::ZeroDuration()));
    retries += wait.has_value();
  }
  EXPECT_EQ(retries, 100);
  EXPECT_GT(longest, absl::Milliseconds(900));
  EXPECT_LE(longest, absl::Seconds(1));
}

// A service that is down for the whole run, and ten programs that call it.
TEST(PeerRetries, SendWhatTheirBudgetsAllowInAnOutage) {
  const Scenario scenario = ScenarioOf(
      "duration: 30s\n"
      "clients: [{name: web, instances: 10, calls: cart/Add, load: {even: 200/s}, retries: 9}]\n"
      "services: [{name: cart, slots: 1000, time: 1ms}]\n"
      "faults: [{at: 0s, for: 40s, service: cart, fail: {code: UNAVAILABLE}}]\n");
  const auto amplification = [&scenario](CallerRule rule) {
    return RunScenario(scenario, rule, 1).Figures().amplification;
  };
  const double calls = 200 * 30 - 1;
  EXPECT_NEAR(amplification(CallerRule::kGrpcA6), 1 + 10 * 4 / calls, 0.001);
  EXPECT_EQ(amplification(CallerRule::kEnvoyIstio), 3);
  EXPECT_NEAR(amplification(CallerRule::kAws2026), 1 + 10 * 35 / calls, 0.001);
}

}  // namespace
}  // namespace levee
