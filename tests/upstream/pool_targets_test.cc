// SPDX-License-Identifier: Apache-2.0
// The effect on endpoints and connections of a reload that brings other targets.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

using testing::ElementsAre;

std::vector<std::string> Addresses(Pool& pool) {
  std::vector<std::string> addresses;
  for (const EndpointView& view : pool.View()) addresses.push_back(view.address);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

TEST(PoolTargets, AnEndpointThatStaysKeepsItsConnection) {
  PoolRun run;
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  Pool& pool = run.Open({run.TargetOf(first)});
  run.CallOne();
  pool.SetTargets({run.TargetOf(second), run.TargetOf(first)});
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 2; });
  pool.SetTargets({run.TargetOf(first)});
  run.Until([&] { return second.connections() == 0; });
  EXPECT_EQ(run.CallOne(), first.address().ToString());
  EXPECT_EQ(first.accepted(), 1);
  EXPECT_THAT(Addresses(pool), ElementsAre(first.address().ToString()));
}

TEST(PoolTargets, ACallOnAnEndpointThatGoesMayFinish) {
  PoolRun run;
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  first.Hold();
  Pool& pool = run.Open({run.TargetOf(first)});
  TestCall call(pool);
  call.Start();
  run.Until([&] { return first.calls() == 1; });
  pool.SetTargets({run.TargetOf(second)});
  EXPECT_EQ(run.CallOne(), second.address().ToString());
  EXPECT_FALSE(call.ended);
  first.Release();
  run.Until([&] { return call.answered; });
  run.Until([&] { return first.connections() == 0; });
  EXPECT_EQ(run.series.connections.Read(), 1);
}

TEST(PoolTargets, ACallThatWaitsIsServedByTheEndpointThatComes) {
  PoolRun run;
  TestServer& deaf = run.Serve();
  TestServer& good = run.Serve();
  deaf.GoDeaf();
  Pool& pool = run.Open({run.TargetOf(deaf)});
  TestCall call(pool);
  call.Start();
  run.Until([&] { return deaf.accepted() == 1; });
  pool.SetTargets({run.TargetOf(good)});
  run.Until([&] { return call.answered; });
  EXPECT_EQ(good.calls(), 1);
}

TEST(PoolTargets, BeforeTheFirstCallNothingIsDialled) {
  PoolRun run;
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  Pool& pool = run.Open({run.TargetOf(first)});
  pool.SetTargets({run.TargetOf(second)});
  EXPECT_EQ(run.CallOne(), second.address().ToString());
  EXPECT_EQ(first.accepted(), 0);
}

TEST(PoolTargets, WithoutATargetCallsFailUntilOneComes) {
  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({});
  TestCall early(pool);
  early.Start();
  run.Until([&] { return early.ended; });
  EXPECT_EQ(early.failure, "there is no endpoint");
  pool.SetTargets({run.TargetOf(server)});
  EXPECT_EQ(run.CallOne(), server.address().ToString());
  server.Hold();
  TestCall running(pool);
  running.Start();
  run.Until([&] { return server.calls() == 2; });
  pool.SetTargets({});
  TestCall late(pool);
  late.Start();
  run.Until([&] { return late.ended; });
  EXPECT_EQ(late.failure, "there is no endpoint");
  server.Release();
  run.Until([&] { return running.answered; });
}

TEST(PoolTargets, TheSameEndpointTwiceIsTwoOfThem) {
  PoolRun run;
  TestServer& server = run.Serve();
  const Pool::Target target = run.TargetOf(server);
  Pool& pool = run.Open({target, target});
  EXPECT_EQ(pool.size(), 2);
  pool.SetTargets({target});
  EXPECT_EQ(pool.size(), 1);
  pool.SetTargets({target, target, target});
  EXPECT_EQ(pool.size(), 3);
}

TEST(PoolTargets, AViewSaysHowEachEndpointIs) {
  PoolRun run;
  TestServer& good = run.Serve();
  const ClosedPort gone;
  const Pool::Target dead = PoolRun::TargetOf(gone);
  Pool& pool = run.Open({run.TargetOf(good)});
  EXPECT_EQ(pool.View().at(0).state, "idle");
  pool.SetTargets({run.TargetOf(good), dead});
  good.Hold();
  TestCall call(pool);
  call.Start();
  run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  run.Until([&] { return good.calls() == 1; });
  for (const EndpointView& view : pool.View()) {
    const bool is_good = view.address == good.address().ToString();
    EXPECT_EQ(view.state, is_good ? "ready" : "failing");
    EXPECT_EQ(view.active, is_good ? 1 : 0);
    EXPECT_EQ(view.failure, is_good ? "" : "connection refused");
  }
}

TEST(PoolAtRest, KeepsOnlyConnectionsThatCallsUse) {
  PoolRun run;
  TestServer& busy = run.Serve();
  TestServer& idle = run.Serve();
  busy.Hold();
  idle.Hold();
  Pool& pool = run.Open({run.TargetOf(busy), run.TargetOf(idle)});
  TestCall call(pool);
  call.Start({}, {1});
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 2 && busy.calls() == 1; });
  pool.ConnectOnlyOnDemand();
  run.Until([&] { return idle.connections() == 0; });
  EXPECT_EQ(busy.connections(), 1);
  busy.Release();
  run.Until([&] { return call.answered && busy.connections() == 0; });
  EXPECT_EQ(run.series.connections.Read(), 0);
  EXPECT_EQ(run.Endpoints(EndpointState::kReady), 0);
  EXPECT_EQ(busy.accepted() + idle.accepted(), 2);
}

TEST(PoolAtRest, StillTakesCalls) {
  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(server)});
  run.CallOne();
  pool.ConnectOnlyOnDemand();
  run.Until([&] { return server.connections() == 0; });
  EXPECT_EQ(run.CallOne(), server.address().ToString());
  run.Until([&] { return server.connections() == 0; });
  EXPECT_EQ(server.accepted(), 2);
}

TEST(PoolAtRest, DialsADeadEndpointOnlyWhenACallAsks) {
  PoolRun run;
  const ClosedPort dead;
  const Pool::Target nowhere = PoolRun::TargetOf(dead);
  Pool& pool = run.Open({nowhere});
  pool.ConnectOnlyOnDemand();
  for (int i = 0; i < 2; ++i) {
    TestCall call(pool);
    call.Start();
    run.Until([&] { return call.ended; });
    EXPECT_NE(call.failure.find("connection refused"), std::string::npos) << call.failure;
    EXPECT_EQ(run.Endpoints(EndpointState::kFailing), 0);
  }
}

}  // namespace
}  // namespace levee
