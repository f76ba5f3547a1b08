// SPDX-License-Identifier: Apache-2.0
// Upstreams whose connections break, and which go away and come back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "upstream/pool_run.h"

namespace levee {
namespace {

// Delays that a test would not outlast.
BackoffPolicy Never() { return {.initial = absl::Hours(1), .max = absl::Hours(1)}; }

// A timer comes at most so late.
constexpr absl::Duration kTick = absl::Milliseconds(1);

// While calls wait, an endpoint is dialled as often as this.
const absl::Duration kDialled = absl::Milliseconds(250) + kTick;

// So long calls wait for an upstream to come back.
constexpr absl::Duration kPatience = absl::Seconds(2);

// A service at a path, which it can leave and take again.
class Restarted {
 public:
  Restarted() {
    unlink(path_.c_str());
    Listen();
    run.policy.reconnect = Never();
    run.pool = NewPool();
  }

  std::unique_ptr<Pool> NewPool() {
    return std::make_unique<Pool>(run.io, run.resolver, run.policy, run.random, run.series,
                                  std::vector<Pool::Target>{{.host = "", .path = path_}});
  }

  TestServer& server() { return *run.servers.back(); }
  void Listen() {
    run.servers.push_back(std::make_unique<TestServer>(run.io, *net::Address::FromUnixPath(path_)));
  }
  void Leave() {
    server().Close();
    run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  }

  PoolRun run;

 private:
  const std::string path_ =
      testing::TempDir() + "levee-pool-return-" + std::to_string(getpid()) + ".sock";
};

TEST(PoolReturn, S7_AConnectionThatHasServedIsReplacedAtOnceHoweverOftenItBreaks) {
  Restarted upstream;
  for (int i = 0; i < 50; ++i) {
    upstream.run.CallOne();
    upstream.server().HangUp();
    upstream.run.Until([&] { return upstream.server().accepted() == i + 2; });
  }
  upstream.run.CallOne();
}

TEST(PoolReturn, S6_AFleetIsBackWithinHalfASecondOfTheListener) {
  constexpr int kSidecars = 30;
  Restarted upstream;
  upstream.run.policy.reconnect =
      BackoffPolicy{.initial = absl::Milliseconds(100), .max = absl::Seconds(10)};
  std::vector<std::unique_ptr<Pool>> fleet;
  std::vector<std::unique_ptr<TestCall>> calls;
  const auto all_call = [&] {
    calls.clear();
    for (const auto& pool : fleet) calls.push_back(std::make_unique<TestCall>(*pool));
    for (const auto& call : calls) call->Start();
  };
  const auto all_answered = [&] {
    return std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->answered; });
  };
  for (int i = 0; i < kSidecars; ++i) fleet.push_back(upstream.NewPool());
  all_call();
  upstream.run.Until(all_answered);
  upstream.server().Close();
  upstream.run.Until([&] { return upstream.run.series.connections.Read() == 0; });
  all_call();
  upstream.run.Pass(absl::Milliseconds(1500));
  upstream.Listen();
  const Instant back = upstream.run.loop.now();
  upstream.run.Until(all_answered);
  EXPECT_LE(upstream.run.loop.now() - back, kDialled);
  calls.clear();
}

TEST(PoolReturn, S6_CallsWaitForAnUpstreamThatHasServedToComeBack) {
  Restarted upstream;
  upstream.run.CallOne();
  upstream.Leave();
  TestCall first(*upstream.run.pool), later(*upstream.run.pool);
  first.Start();
  upstream.run.Pass(absl::Milliseconds(1200));
  later.Start();
  upstream.run.Pass(absl::Milliseconds(300));
  EXPECT_FALSE(first.ended || later.ended);
  upstream.Listen();
  const Instant back = upstream.run.loop.now();
  upstream.run.Until([&] { return first.ended && later.ended; });
  EXPECT_TRUE(first.answered && later.answered);
  EXPECT_LE(upstream.run.loop.now() - back, kDialled);
}

TEST(PoolReturn, ACallOfAnUpstreamThatStaysAwayFailsAndOneThatComesLaterFailsAtOnce) {
  Restarted upstream;
  upstream.run.CallOne();
  upstream.Leave();
  const Instant left = upstream.run.loop.now();
  TestCall waits(*upstream.run.pool);
  waits.Start();
  upstream.run.Until([&] { return waits.ended; });
  EXPECT_NE(waits.failure, "");
  const Instant given_up = upstream.run.loop.now();
  EXPECT_GE(given_up - left, kPatience - kTick);
  EXPECT_LE(given_up - left, kPatience + kDialled);
  TestCall later(*upstream.run.pool);
  later.Start();
  upstream.run.Until([&] { return later.ended; });
  EXPECT_LE(upstream.run.loop.now() - given_up, kDialled);
  // It has come back when nobody was calling: the first call finds it.
  upstream.run.Pass(2 * Reconnect::kWanted);
  upstream.Listen();
  upstream.run.CallOne();
}

TEST(PoolReturn, AFurtherLossMakesCallsWaitNoLongerUnlessAnAttemptHasSucceeded) {
  for (const bool succeeds : {false, true}) {
    Restarted upstream;
    upstream.run.CallOne();
    upstream.Leave();
    const Instant left = upstream.run.loop.now();
    upstream.run.Pass(absl::Seconds(1));
    upstream.Listen();
    upstream.run.CallOne();
    if (succeeds) upstream.run.pool->OnAttemptEnded(/*endpoint=*/0, true);
    upstream.Leave();
    const Instant since = succeeds ? upstream.run.loop.now() : left;
    TestCall waits(*upstream.run.pool);
    waits.Start();
    upstream.run.Until([&] { return waits.ended; });
    EXPECT_GE(upstream.run.loop.now() - since, kPatience - kTick) << succeeds;
    EXPECT_LE(upstream.run.loop.now() - since, kPatience + kDialled) << succeeds;
  }
}

TEST(PoolReturn, AnUpstreamThatHasNeverServedFailsCallsAtOnce) {
  Restarted upstream;
  upstream.server().Close();
  TestCall call(*upstream.run.pool);
  call.Start();
  const Instant asked = upstream.run.loop.now();
  upstream.run.Until([&] { return call.ended; });
  EXPECT_FALSE(call.answered);
  EXPECT_EQ(upstream.run.loop.now(), asked);
}

TEST(PoolReturn, AnUpstreamThatHangsUpWithoutAnyAnswerIsDialledFourToEightTimesASecond) {
  Restarted upstream;
  upstream.server().Hold();
  std::vector<std::unique_ptr<TestCall>> calls;
  const Instant until = upstream.run.loop.now() + absl::Seconds(1);
  while (upstream.run.loop.now() < until) {
    if (calls.empty() || calls.back()->ended) {
      calls.push_back(std::make_unique<TestCall>(*upstream.run.pool));
      calls.back()->Start();
    }
    upstream.run.Pass(absl::Milliseconds(1));
    upstream.server().HangUp();
  }
  EXPECT_GE(upstream.server().accepted(), 2 + 4);
  EXPECT_LE(upstream.server().accepted(), 2 + 8);
}

}  // namespace
}  // namespace levee
