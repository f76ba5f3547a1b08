// SPDX-License-Identifier: Apache-2.0
// A pool with many users that wait makes no more in a turn than its thread may have.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/block_cache.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

constexpr int kCalls = 200;
constexpr int kInTurn = 40;  // far fewer than all, and more than end within what a turn may have

// Calls that wait, of which as many may begin or fail in a turn as 8 KiB allow, and one more.
class PoolTurn : public testing::Test {
 protected:
  ~PoolTurn() override { AllowBlocks(INT64_MAX); }

  void Start(Pool& pool) {
    for (int i = 0; i < kCalls; ++i) {
      calls_.push_back(std::make_unique<TestCall>(pool));
      calls_.back()->Start();
    }
  }

  // Runs until `done` holds of all calls; returns how many turns it began to hold in, and expects
  // that it did so of few calls in each of them.
  int TurnsUntilAll(const std::function<bool(const TestCall&)>& done) {
    long before = 0;
    int turns = 0;
    ReleaseFreeBlocks();
    AllowBlocks(kAllowed);
    run_.Until([&] {
      const long now = std::count_if(calls_.begin(), calls_.end(),
                                     [&](const auto& call) { return done(*call); });
      EXPECT_LE(now - before, kInTurn);
      if (now > before) ++turns;
      before = now;
      AllowBlocks(kAllowed);
      return now == kCalls;
    });
    return turns;
  }

  static constexpr int64_t kAllowed = 8 * 1024;
  PoolRun run_;
  std::vector<std::unique_ptr<TestCall>> calls_;
};

TEST_F(PoolTurn, AttemptsThatWaitedForAConnectionBeginInSeveralTurns) {
  TestServer& server = run_.Serve("127.0.0.1", 0, /*max_streams=*/1000);
  server.Hold();
  Start(run_.Open({run_.TargetOf(server)}));
  EXPECT_GT(TurnsUntilAll([](const TestCall& call) { return call.endpoint >= 0; }), 4);
}

// All wait for the same attempt to connect. A failure of this test's calls makes nothing, so they
// take a block for it.
TEST_F(PoolTurn, CallsThatWaitedInVainFailInSeveralTurns) {
  const ClosedPort closed;
  Start(run_.Open({run_.TargetOf(closed)}));
  for (const auto& call : calls_) call->keeps_when_failed = 512;
  EXPECT_GT(TurnsUntilAll([](const TestCall& call) { return !call.failure.empty(); }), 4);
}

TEST_F(PoolTurn, CallsThatAreTooManyFailInSeveralTurns) {
  constexpr int kMayWait = 100'000;
  TestServer& server = run_.Serve();
  server.GoDeaf();
  Pool& pool = run_.Open({run_.TargetOf(server)});
  std::vector<std::unique_ptr<TestCall>> waiting;
  for (int i = 0; i < kMayWait; ++i) {
    waiting.push_back(std::make_unique<TestCall>(pool));
    waiting.back()->Start();
  }
  Start(pool);
  for (const auto& call : calls_) call->keeps_when_failed = 512;
  EXPECT_GT(TurnsUntilAll([](const TestCall& call) { return !call.failure.empty(); }), 4);
}

// An attempt that begins without waiting does so only while something is left.
TEST_F(PoolTurn, AnAttemptWaitsForTheNextTurnWhereNothingIsLeft) {
  TestServer& server = run_.Serve();
  Pool& pool = run_.Open({run_.TargetOf(server)});
  run_.CallOne();
  TestCall call(pool);
  AllowBlocks(0);
  call.Start();
  EXPECT_EQ(call.endpoint, -1);
  AllowBlocks(INT64_MAX);
  run_.Until([&] { return call.answered; });
}

}  // namespace
}  // namespace levee
