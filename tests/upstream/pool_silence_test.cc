// SPDX-License-Identifier: Apache-2.0
// An only endpoint whose kernel acknowledges nothing any more.
#include <gtest/gtest.h>

#include "upstream/pool_run.h"
#include "upstream/silent_kernel.h"

namespace levee {
namespace {

// The kernel is asked so often.
constexpr absl::Duration kLook = absl::Milliseconds(100);

// A pool with one connection, on which a call runs that is not answered.
class PoolSilence : public testing::Test {
 protected:
  PoolSilence() {
    run.CallOne();
    server.Hold();
    held.Start();
    run.Until([&] { return server.calls() == 2; });
    began = run.loop.now();
  }

  // A call that is answered, by the connection that it takes.
  const UpstreamConnection* CallOne() {
    TestCall call(pool);
    call.Start();
    run.Until([&] { return call.ended; });
    EXPECT_TRUE(call.answered) << call.failure;
    return call.connection;
  }

  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  TestCall held{pool};
  Instant began;
};

TEST_F(PoolSilence, ASecondConnectionIsDialledAfterASecondAndTakesTheNewCalls) {
  SilentKernel kernel;
  run.Until([&] { return server.accepted() == 2; });
  EXPECT_GE(run.loop.now() - began, absl::Seconds(1));
  EXPECT_LE(run.loop.now() - began, absl::Seconds(1) + 2 * kLook);
  server.AnswerNew();
  run.Pass(kLook);
  for (int i = 0; i < 10; ++i) EXPECT_NE(CallOne(), held.connection);
  EXPECT_EQ(server.accepted(), 2);
  EXPECT_FALSE(held.ended);
}

TEST_F(PoolSilence, TheOldConnectionStaysAsLongAsACallIsLeftOnIt) {
  SilentKernel kernel;
  run.Until([&] { return server.accepted() == 2; });
  run.Pass(absl::Minutes(10));
  EXPECT_EQ(server.connections(), 2);
  EXPECT_FALSE(held.ended);
  kernel.HearAgain();
  server.Release();
  run.Until([&] { return held.ended; });
  EXPECT_TRUE(held.answered);
  run.Until([&] { return server.connections() == 1; });
  EXPECT_NE(CallOne(), held.connection);
  EXPECT_EQ(server.accepted(), 2);
}

TEST_F(PoolSilence, AConnectionWhoseLastCallWasGivenUpIsClosedThoughItsPeerIsSilent) {
  SilentKernel kernel;
  run.Until([&] { return server.accepted() == 2; });
  run.Pass(kLook);
  held.Cancel();
  run.Until([&] { return server.connections() == 1; });
  EXPECT_LE(run.loop.now() - began, absl::Seconds(2));
}

TEST_F(PoolSilence, ALapseOfLessThanASecondChangesNothing) {
  SilentKernel kernel;
  run.Pass(absl::Milliseconds(900));
  kernel.HearAgain();
  run.Pass(absl::Minutes(1));
  EXPECT_EQ(server.accepted(), 1);
  server.AnswerNew();
  EXPECT_EQ(CallOne(), held.connection);
}

TEST_F(PoolSilence, WhereNoSecondConnectionCanBeMadeCallsTakeTheSilentOne) {
  server.ListenNoMore();
  SilentKernel kernel;
  run.Pass(absl::Seconds(30));
  EXPECT_EQ(run.Endpoints(EndpointState::kReady), 1);
  EXPECT_FALSE(held.ended);
  server.AnswerNew();
  EXPECT_EQ(CallOne(), held.connection);
}

}  // namespace
}  // namespace levee
