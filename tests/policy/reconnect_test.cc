// SPDX-License-Identifier: Apache-2.0
#include "policy/reconnect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/times.h"

namespace levee {
namespace {

// Delays of 100 ms, 200 ms, ... 10 s.
BackoffPolicy WithoutJitter() {
  return {.initial = absl::Milliseconds(100), .max = absl::Seconds(10), .jitter = Jitter::kNone};
}

class ReconnectTest : public testing::Test {
 protected:
  void Lose(bool proven, Instant now) { reconnect.OnLost(proven, policy, now, random); }
  void Leave(Instant now) { reconnect.OnLeaving(policy, now, random); }
  void Fail(Instant now) { reconnect.OnFailed(policy, now, random); }

  BackoffPolicy policy = WithoutJitter();
  Random random{1};
  Reconnect reconnect;
};

TEST_F(ReconnectTest, AConnectionThatHasServedIsReplacedAtOnceHoweverOftenItIsLost) {
  for (int i = 0; i < 100; ++i) {
    Lose(/*proven=*/true, At(i));
    EXPECT_EQ(reconnect.when(/*wanted=*/false), At(i));
    EXPECT_EQ(reconnect.when(/*wanted=*/true), At(i));
  }
}

TEST_F(ReconnectTest, AConnectionThatNeverServedIsReplacedAtOnceOnlyOnce) {
  Lose(/*proven=*/false, At(1));
  EXPECT_EQ(reconnect.when(false), At(1));
  Lose(/*proven=*/false, At(2));
  EXPECT_EQ(reconnect.when(false), At(2.1));
  Lose(/*proven=*/false, At(3));
  EXPECT_EQ(reconnect.when(false), At(3.2));
}

TEST_F(ReconnectTest, AnAnswerEndsTheRowAndTheBackoff) {
  for (int i = 0; i < 10; ++i) Fail(At(i));
  EXPECT_EQ(reconnect.when(false), At(9 + 10));
  Lose(/*proven=*/false, At(20));
  Lose(/*proven=*/true, At(21));
  Lose(/*proven=*/false, At(22));
  EXPECT_EQ(reconnect.when(false), At(22));
  Fail(At(23));
  EXPECT_EQ(reconnect.when(false), At(23.1));
}

TEST_F(ReconnectTest, WhileCallsWantTheEndpointItIsTriedFourTimesASecondWithJitter) {
  for (int i = 0; i < 10; ++i) Fail(At(i));
  std::vector<absl::Duration> delays;
  for (int i = 0; i < 1000; ++i) {
    Fail(At(100));
    EXPECT_EQ(reconnect.when(/*wanted=*/false), At(110));
    delays.push_back(reconnect.when(/*wanted=*/true) - At(100));
  }
  std::sort(delays.begin(), delays.end());
  EXPECT_GE(delays.front(), absl::Milliseconds(125));
  EXPECT_LT(delays.front(), absl::Milliseconds(130));
  EXPECT_GT(delays.back(), absl::Milliseconds(245));
  EXPECT_LE(delays.back(), absl::Milliseconds(250));
}

TEST_F(ReconnectTest, ADelayThatIsShorterThanThatStays) {
  Fail(At(1));
  EXPECT_EQ(reconnect.when(/*wanted=*/true), At(1.1));
}

TEST_F(ReconnectTest, H12_AConnectionThatLeavesIsReplacedAtOnceIfTheOnesBeforeAnsweredTheirCalls) {
  for (int i = 0; i < 100; ++i) {
    Leave(At(i));
    EXPECT_EQ(reconnect.when(false), At(i));
    reconnect.OnLeft(/*proven=*/true);
  }
  // Two leave at a time.
  Leave(At(100));
  Leave(At(101));
  EXPECT_EQ(reconnect.when(false), At(101));
}

TEST_F(ReconnectTest, H12_AConnectionThatLeavesWithoutAnAnswerIsReplacedAtOnceOnlyOnce) {
  Leave(At(1));
  reconnect.OnLeft(/*proven=*/false);
  Leave(At(2));
  EXPECT_EQ(reconnect.when(false), At(2.1));
  reconnect.OnLeft(/*proven=*/false);
  Lose(/*proven=*/false, At(3));
  EXPECT_EQ(reconnect.when(false), At(3.2));
  Leave(At(4));
  reconnect.OnLeft(/*proven=*/true);
  Leave(At(5));
  EXPECT_EQ(reconnect.when(false), At(5));
}

// The delays of a restart, during which calls want the endpoint.
TEST_F(ReconnectTest, S6_AfterARestartEachOfAFleetIsBackWithinAQuarterOfASecond) {
  policy.jitter = Jitter::kFull;
  for (const double away : {0.3, 1.5, 14.0}) {
    for (int seed = 1; seed <= 1000; ++seed) {
      Random own(static_cast<uint64_t>(seed));
      Reconnect sidecar;
      sidecar.OnLost(/*proven=*/true, policy, At(0), own);
      Instant tried = sidecar.when(/*wanted=*/true);
      while (tried < At(away)) {
        sidecar.OnFailed(policy, tried, own);
        tried = sidecar.when(/*wanted=*/true);
      }
      EXPECT_LE(tried - At(away), absl::Milliseconds(250));
    }
  }
}

}  // namespace
}  // namespace levee
