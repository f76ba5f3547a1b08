// SPDX-License-Identifier: Apache-2.0
// The simulator itself, where a fault would make the checks of calls say nothing.
#include <algorithm>
#include <vector>

#include "call/call_fixture.h"
#include "sim/workload.h"

namespace levee {
namespace {

class SimHostTest : public CallTest {};

TEST(SimClock, RunsEventsInTheOrderOfTimeThenOfAsking) {
  SimClock clock;
  std::vector<int> order;
  clock.After(Ms(2), [&] { order.push_back(4); });
  clock.After(Ms(1), [&] {
    order.push_back(1);
    clock.After(Ms(0), [&] { order.push_back(3); });
  });
  clock.After(Ms(1), [&] { order.push_back(2); });
  clock.Run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(clock.elapsed(), Ms(2));
}

TEST(SimClock, RunForStopsInTime) {
  SimClock clock;
  int runs = 0;
  clock.After(Ms(5), [&] { ++runs; });
  clock.After(Ms(6), [&] { ++runs; });
  clock.RunFor(Ms(5));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(clock.elapsed(), Ms(5));
}

TEST(SimClock, AnEventOfThePastRunsInTheNextTurn) {
  SimClock clock;
  clock.RunFor(Ms(10));
  absl::Duration at;
  clock.At(clock.now() - Ms(5), [&] { at = clock.elapsed(); });
  clock.Run();
  EXPECT_EQ(at, Ms(10));
}

TEST_F(SimHostTest, CallsOverlapInTime) {
  Upstream({Answer().Trailers(absl::Seconds(1), StatusCode::kOk)});
  RunWorkload(sidecar_, {.per_second = 10, .calls = 20});
  EXPECT_EQ(clock_.elapsed(), Ms(19 * 100 + 1000));
  EXPECT_EQ(sidecar_.tally().ok, 20);
}

TEST_F(SimHostTest, PoissonArrivalsHaveTheRateAskedFor) {
  Upstream({Ok()});
  RunWorkload(sidecar_, {.per_second = 10, .calls = 5000, .poisson_seed = 3});
  EXPECT_NEAR(absl::ToDoubleSeconds(clock_.elapsed()), 500, 20);
}

TEST_F(SimHostTest, TheSameSeedGivesTheSameRun) {
  std::vector<absl::Duration> ends;
  for (int i = 0; i < 2; ++i) {
    SimClock clock;
    SimSidecar sidecar(clock, CallPolicy(), 5);
    sidecar.KeepCalls();
    sidecar.AddEndpoint(Flaky(0.3, 6));
    RunWorkload(sidecar, {.per_second = 50, .calls = 500, .poisson_seed = 7});
    ends.push_back(clock.elapsed());
    for (const SimHost& call : sidecar.calls()) ends.push_back(*call.caller().finished_at);
  }
  const size_t half = ends.size() / 2;
  EXPECT_TRUE(std::equal(ends.begin(), ends.begin() + half, ends.begin() + half, ends.end()));
}

// As the network's host, which has given its place to another attempt by then.
TEST_F(SimHostTest, AnAttemptThatIsOverCannotBeNamedOnceTheNextHasStarted) {
  retry_.backoff.initial = Ms(1);
  Upstream({TrailersOnly(StatusCode::kUnavailable), Silence()});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(1));
  ASSERT_TRUE(call.attempt(1).ended_at.has_value());
  EXPECT_EQ(call.attempts(), 1);
  clock_.RunFor(Ms(10));
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_DEATH(call.Commit(1), "invariant broken");
  EXPECT_DEATH(call.JudgeAttempt(1, true), "invariant broken");
  EXPECT_DEATH(call.SendRequest(1, Chunk(), true), "invariant broken");
}

TEST_F(SimHostTest, NothingIsAskedOfAHostWhoseCallHasEnded) {
  Upstream({Ok()});
  SimHost& call = RunUnary();
  EXPECT_DEATH(call.SetTimer(Instant::Infinite()), "invariant broken");
  EXPECT_DEATH(call.StartAttempt({}), "invariant broken");
  EXPECT_DEATH(call.JudgeAttempt(1, true), "invariant broken");
}

TEST_F(SimHostTest, EndpointsShareTheLoad) {
  std::vector<int> served(3);
  for (int& count : served) {
    sidecar_.AddEndpoint([&count](SimHost&, AttemptId) {
      ++count;
      return Ok();
    });
  }
  RunWorkload(sidecar_, {.per_second = 10, .calls = 3000});
  for (int count : served) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace levee
