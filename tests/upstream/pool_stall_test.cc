// SPDX-License-Identifier: Apache-2.0
// An endpoint that does not take the bytes of calls.
#include <gtest/gtest.h>

#include "telemetry/series.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

constexpr absl::Duration kTimeout = absl::Minutes(1);

// A server that holds its calls: one whose body is longer than the server's window, and one without
// body, on one connection.
class PoolStall : public testing::Test {
 protected:
  explicit PoolStall(absl::Duration send_timeout = kTimeout) {
    run.policy.connection.send_timeout = send_timeout;
    server.Hold();
    large.body = std::string(10 << 20, 'x');
    large.Start();
    quiet.Start();
    run.Until([&] { return server.calls() == 2; });
    began = run.loop.now();
    EXPECT_EQ(server.accepted(), 1);
  }

  uint64_t Hits() { return run.worker_series.limit_hits[Limit::kSendTimeout].Read(); }

  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  TestCall large{pool}, quiet{pool};
  Instant began;
};

TEST_F(PoolStall, ACallWhoseBytesTheServerNeverTakesEndsAfterTheSendTimeout) {
  run.Until([&] { return large.ended; });
  EXPECT_TRUE(large.stalled);
  EXPECT_GE(run.loop.now() - began, kTimeout);
  EXPECT_LE(run.loop.now() - began, kTimeout * 1.3);
  EXPECT_EQ(Hits(), 1u);
}

TEST_F(PoolStall, OtherCallsOnItsConnectionGoOn) {
  run.Pass(absl::Minutes(10));
  EXPECT_TRUE(large.ended);
  EXPECT_FALSE(quiet.ended);
  server.Release();
  run.Until([&] { return quiet.ended; });
  EXPECT_TRUE(quiet.answered);
  EXPECT_EQ(server.accepted(), 1);
  EXPECT_EQ(Hits(), 1u);
}

TEST_F(PoolStall, ACallIsNotSavedByBytesOfOthersThatAreTaken) {
  for (int i = 0; i < 10 && !large.ended; ++i) {
    run.Pass(kTimeout / 4);
    TestCall other(pool);
    other.body = "hello";
    other.Start();
    run.Pass(absl::Milliseconds(1));
  }
  EXPECT_TRUE(large.stalled);
}

TEST_F(PoolStall, ACallOfWhichTheServerTakesSomeNowAndThenGoesOn) {
  for (int i = 0; i < 20; ++i) {
    run.Pass(kTimeout * 0.9);
    server.TakeBodies();
  }
  EXPECT_FALSE(large.ended);
  EXPECT_EQ(Hits(), 0u);
}

TEST(PoolStallOfAStream, AStreamThatTheServerHasBegunToReadRestsAsLongAsTheServerLikes) {
  PoolRun run;
  run.policy.connection.send_timeout = kTimeout;
  TestServer& server = run.Serve();
  server.Hold();
  TestCall stream(run.Open({run.TargetOf(server)}));
  stream.body = std::string(10 << 20, 'x');
  stream.more_follows = true;
  stream.Start();
  run.Pass(absl::Minutes(50));
  EXPECT_FALSE(stream.ended);
}

class PoolStallWithoutTimeout : public PoolStall {
 protected:
  PoolStallWithoutTimeout() : PoolStall(absl::InfiniteDuration()) {}
};

TEST_F(PoolStallWithoutTimeout, ACallWaitsAsLongAsItMay) {
  run.Pass(absl::Minutes(50));
  EXPECT_FALSE(large.ended);
}

}  // namespace
}  // namespace levee
