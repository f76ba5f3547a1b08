// SPDX-License-Identifier: Apache-2.0
#include "upstream/pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <map>
#include <set>

#include "conn/connection_age.h"
#include "telemetry/exposition.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

TEST(Pool, ACallWaitsForTheConnectionAndGetsItsStream) {
  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  TestCall call(pool);
  call.Start();
  EXPECT_EQ(call.endpoint, -1);
  run.Until([&] { return call.ended; });
  EXPECT_TRUE(pool.UnreadyNames().empty());
  EXPECT_TRUE(call.answered);
  EXPECT_EQ(pool.EndpointName(call.endpoint), server.address().ToString());
  EXPECT_EQ(run.Endpoints(EndpointState::kReady), 1);
}

TEST(Pool, AnEndpointCanBeAUnixSocket) {
  PoolRun run;
  const std::string path = testing::TempDir() + "levee-pool-" + std::to_string(getpid());
  run.servers.push_back(std::make_unique<TestServer>(run.io, *net::Address::FromUnixPath(path)));
  run.Open({{.host = "", .path = path}});
  EXPECT_EQ(run.CallOne(), "unix:" + path);
}

TEST(Pool, LocalhostIsOneEndpointWhicheverAddressServes) {
  PoolRun run;
  TestServer& server = run.Serve("127.0.0.1");
  Pool& pool = run.Open({{.host = "localhost", .port = server.address().port(), .path = ""}});
  EXPECT_EQ(run.CallOne(), "localhost:" + std::to_string(server.address().port()));
  EXPECT_EQ(pool.size(), 1);
}

TEST(Pool, CallsGoToAllEndpointsThatAreReady) {
  PoolRun run;
  std::vector<Pool::Target> targets;
  for (int i = 0; i < 3; ++i) targets.push_back(run.TargetOf(run.Serve()));
  run.Open(targets);
  run.CallOne();
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 3; });
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(run.CallOne());
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Pool, AConnectionThatIsOldIsReplacedAndItsCallsEndAsTheyWould) {
  PoolRun run;
  run.policy.max_connection_age = absl::Milliseconds(50);
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  server.Hold();
  TestCall held(pool);
  held.Start();
  run.Until([&] { return server.accepted() == 2; });
  EXPECT_EQ(run.Endpoints(EndpointState::kReady), 1);
  server.Release();
  run.Until([&] { return held.ended; });
  EXPECT_TRUE(held.answered);
  run.CallOne();
  run.Until([&] { return server.accepted() > server.connections(); });
}

// The wheel is turned by hand, so that all three are old at once.
TEST(Pool, OfSeveralOldConnectionsOneLeavesForEachNewOne) {
  PoolRun run;
  run.policy.max_connection_age = absl::Hours(1);
  run.policy.connect_timeout = absl::Hours(24);
  TestServer& server = run.Serve("127.0.0.1", 0, /*max_streams=*/1);
  Pool& pool = run.Open({run.TargetOf(server)});
  const Instant later = run.loop.now() + absl::Hours(2);
  // Three calls at once need three connections, and no more are made for the next three.
  const auto three_at_once = [&](int before) {
    std::array<TestCall, 3> calls = {TestCall(pool), TestCall(pool), TestCall(pool)};
    server.Hold();
    for (TestCall& call : calls) call.Start();
    run.Until([&] { return server.calls() == before + 3; });
    server.Release();
    run.Until([&] { return calls[0].ended && calls[1].ended && calls[2].ended; });
  };
  three_at_once(0);
  EXPECT_EQ(server.accepted(), 3);
  for (int made = 1; made <= 3; ++made) {
    run.io.wheel.Advance(later + made * ConnectionAge::kAgain);
    run.Until([&] { return server.accepted() == 3 + made && server.connections() <= 3; });
    three_at_once(3 * made);
    EXPECT_EQ(server.accepted(), 3 + made);
    EXPECT_EQ(server.connections(), 3);
  }
}

TEST(Pool, AnOldConnectionStaysWhileNoOtherCanBeMade) {
  PoolRun run;
  run.policy.max_connection_age = absl::Milliseconds(20);
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  run.CallOne();
  server.ListenNoMore();
  run.Pass(absl::Milliseconds(100));
  TestCall call(pool);
  call.Start();
  run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered);
}

TEST(Pool, A61_AnEndpointThatCannotBeReachedIsPassedOver) {
  PoolRun run;
  const ClosedPort dead;
  const Pool::Target nowhere = PoolRun::TargetOf(dead);
  TestServer& alive = run.Serve();
  run.Open({nowhere, run.TargetOf(alive)});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run.CallOne(), alive.address().ToString());
  EXPECT_EQ(run.Endpoints(EndpointState::kFailing), 1);
}

TEST(Pool, WithoutAnyEndpointACallFailsAndSaysWhy) {
  PoolRun run;
  const ClosedPort dead;
  const Pool::Target nowhere = PoolRun::TargetOf(dead);
  Pool& pool = run.Open({nowhere});
  TestCall call(pool);
  call.Start();
  run.Until([&] { return call.ended; });
  const std::string name = "127.0.0.1:" + std::to_string(nowhere.port);
  EXPECT_EQ(call.failure, "cannot connect to " + name + ": connection refused");
  EXPECT_EQ(pool.UnreadyNames(), std::vector<std::string>{name});
  EXPECT_FALSE(call.to_self);
}

TEST(Pool, AListenerOfItsOwnIsNotDialled) {
  PoolRun run;
  run.own_listeners = {*net::Address::FromIp("127.0.0.1", 7)};
  TestCall call(run.Open({{.host = "127.0.0.1", .port = 7, .path = ""}}));
  call.Start();
  run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.to_self);
}

TEST(Pool, AForbiddenEndpointIsNotTakenEvenIfItIsTheOnlyOne) {
  PoolRun run;
  Pool& pool = run.Open({run.TargetOf(run.Serve())});
  run.CallOne();
  TestCall call(pool);
  call.Start({}, {0});
  run.Until([&] { return call.ended; });
  EXPECT_EQ(call.failure, "every other endpoint is overloaded");
}

TEST(Pool, A59_StreamsBeyondTheLimitGetFurtherConnectionsAndThenWait) {
  PoolRun run;
  TestServer& server = run.Serve("127.0.0.1", 0, /*max_streams=*/2);
  server.Hold();
  Pool& pool = run.Open({run.TargetOf(server)});
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(std::make_unique<TestCall>(pool));
    calls.back()->Start();
  }
  run.Until([&] { return server.calls() == 16; });
  EXPECT_EQ(server.connections(), 8);
  EXPECT_EQ(run.worker_series.limit_hits[Limit::kEndpointConnections].Read(), 1u);
  calls[0]->Cancel();  // Its place goes to the first that waits.
  run.Until([&] { return server.calls() == 17; });
  EXPECT_GE(calls[16]->endpoint, 0);
  server.Release();
  run.Until([&] { return calls[19]->answered; });
}

TEST(Pool, OneCallThatWaitsOpensOneConnection) {
  PoolRun run;
  TestServer& server = run.Serve("127.0.0.1", 0, /*max_streams=*/1);
  TestServer& other = run.Serve("127.0.0.1", 0, /*max_streams=*/1);
  server.Hold();
  other.Hold();
  Pool& pool = run.Open({run.TargetOf(server), run.TargetOf(other)});
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(std::make_unique<TestCall>(pool));
    calls.back()->Start();
  }
  run.Until([&] { return server.calls() + other.calls() == 3; });
  EXPECT_EQ(server.accepted() + other.accepted(), 3);
}

TEST(Pool, ACallThatWaitsForOneEndpointOpensNoConnectionToAnother) {
  PoolRun run;
  TestServer& open = run.Serve();
  TestServer& deaf = run.Serve();
  deaf.GoDeaf();
  Pool& pool = run.Open({run.TargetOf(open), run.TargetOf(deaf)});
  run.CallOne();
  TestCall waits(pool);
  waits.Start({}, {0});
  for (int i = 0; i < 5; ++i) run.CallOne();
  EXPECT_EQ(open.accepted(), 1);
  EXPECT_FALSE(waits.ended);
}

TEST(Pool, MoreCallsThanMayWaitAreTurnedAway) {
  PoolRun run;
  TestServer& server = run.Serve();
  server.GoDeaf();
  Pool& pool = run.Open({run.TargetOf(server)});
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 100'002; ++i) {
    calls.push_back(std::make_unique<TestCall>(pool));
    calls.back()->Start();
    if (i == 10) calls[5]->Cancel();  // A call that withdraws makes room.
  }
  run.Until([&] { return calls.back()->ended; });
  EXPECT_EQ(calls.back()->failure, "too many calls wait for a connection");
  EXPECT_FALSE(calls[100'000]->ended);
  EXPECT_EQ(run.worker_series.limit_hits[Limit::kPendingAttempts].Read(), 1u);
  calls[6]->Cancel();
  TestCall next(pool), one_more(pool);
  next.Start();
  one_more.Start();
  run.Until([&] { return one_more.ended; });
  EXPECT_FALSE(next.ended);
}

TEST(Pool, AnEndpointThatAlwaysFailsIsEjected) {
  PoolRun run;
  TestServer& bad = run.Serve();
  TestServer& good = run.Serve();
  Pool& pool = run.Open({run.TargetOf(bad), run.TargetOf(good)});
  run.CallOne();
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 2; });
  int failures = 0;
  while (run.Endpoints(EndpointState::kEjected) == 0 && failures < 100) {
    TestCall call(pool);
    call.Start({}, {1});
    run.Until([&] { return call.ended; });
    pool.OnAttemptEnded(0, false);
    pool.OnAttemptEnded(1, true);
    run.Pass(absl::Milliseconds(1));  // Failures at one instant count as one.
    ++failures;
  }
  EXPECT_EQ(failures, 5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run.CallOne(), good.address().ToString());
  EXPECT_FALSE(pool.HasOther(1, {}));
  // It is taken back when it is the only one left.
  good.Close();
  run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  EXPECT_EQ(run.CallOne(), bad.address().ToString());
  EXPECT_EQ(run.Endpoints(EndpointState::kEjected), 0);
}

TEST(Pool, ALostConnectionIsReplacedAndCallsGoOn) {
  PoolRun run;
  TestServer& server = run.Serve();
  run.Open({run.TargetOf(server)});
  run.CallOne();
  server.GoAway();
  run.Until([&] { return server.accepted() == 2; });
  run.CallOne();
  EXPECT_EQ(server.calls(), 2);
}

TEST(Pool, EndpointsAreCountedAsIdleBeforeTheFirstCall) {
  PoolRun run;
  TestServer& server = run.Serve();
  run.Open({run.TargetOf(server), {.host = "nowhere.test", .port = 1, .path = ""}});
  EXPECT_EQ(run.Endpoints(EndpointState::kIdle), 2);
  run.CallOne();
  EXPECT_EQ(run.Endpoints(EndpointState::kIdle), 0);
}

TEST(Pool, GaugesAreEmptyOnceItIsClosed) {
  PoolRun run;
  TestServer& server = run.Serve();
  run.Open({run.TargetOf(server), {.host = "nowhere.test", .port = 1, .path = ""}});
  run.CallOne();
  run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  run.pool->Close();
  for (const EndpointState state : kAllOf<EndpointState, kEndpointStates>) {
    EXPECT_EQ(run.Endpoints(state), 0);
  }
  EXPECT_EQ(run.series.connections.Read(), 0);
}

}  // namespace
}  // namespace levee
