// SPDX-License-Identifier: Apache-2.0
// Calls that wait for an upstream of which nothing can be reached yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "upstream/pool_run.h"

namespace levee {
namespace {

using testing::HasSubstr;

// A path on which nobody listens until Come.
class LateUpstream {
 public:
  LateUpstream() {
    unlink(path_.c_str());
    run.policy.connect_wait = absl::Seconds(10);
    run.policy.waiting = &places;
    run.Open({{.host = "", .path = path_}});
  }

  TestServer& Come() {
    run.servers.push_back(std::make_unique<TestServer>(run.io, *net::Address::FromUnixPath(path_)));
    return *run.servers.back();
  }

  // A call that waits no longer than the policy says.
  TestCall& Call() {
    calls.push_back(std::make_unique<TestCall>(*run.pool));
    calls.back()->patient_until = run.loop.now() + run.policy.connect_wait;
    calls.back()->Start();
    return *calls.back();
  }

  WaitingPlaces places{100};
  PoolRun run;
  std::vector<std::unique_ptr<TestCall>> calls;

 private:
  const std::string path_ =
      testing::TempDir() + "levee-pool-patience-" + std::to_string(getpid()) + ".sock";
};

TEST(PoolPatience, E7_ACallWaitsForAServiceThatStartsFourSecondsLater) {
  LateUpstream upstream;
  const TestCall& call = upstream.Call();
  upstream.run.Pass(absl::Seconds(4));
  EXPECT_FALSE(call.ended);
  upstream.Come();
  upstream.run.Until([&] { return call.ended; });
  EXPECT_TRUE(call.answered) << call.failure;
}

TEST(PoolPatience, ACallWhosePatienceIsOverFailsWithTheCause) {
  LateUpstream upstream;
  const Instant begun = upstream.run.loop.now();
  const TestCall& call = upstream.Call();
  upstream.run.Until([&] { return call.ended; });
  const absl::Duration waited = upstream.run.loop.now() - begun;
  EXPECT_GE(waited, absl::Seconds(10));
  EXPECT_LE(waited, absl::Seconds(10) + absl::Milliseconds(2));
  EXPECT_THAT(call.failure, HasSubstr(" ms for a connection; cannot connect to unix:"));
  EXPECT_THAT(call.failure, HasSubstr("no such file or directory"));
}

TEST(PoolPatience, NoMoreWaitThanThereArePlacesAndTheOthersAreCounted) {
  LateUpstream upstream;
  upstream.places.Resize(2);
  for (int i = 0; i < 5; ++i) upstream.Call();
  upstream.run.Until([&] { return upstream.calls[4]->ended; });
  EXPECT_TRUE(upstream.calls[2]->ended);
  EXPECT_FALSE(upstream.calls[0]->ended || upstream.calls[1]->ended);
  EXPECT_THAT(upstream.calls[4]->failure, testing::StartsWith("cannot connect to "));
  EXPECT_EQ(upstream.run.worker_series.limit_hits[Limit::kWaitingCalls].Read(), 3u);
  // A call that is gone makes room for another.
  upstream.calls[0]->Cancel();
  const TestCall& next = upstream.Call();
  upstream.run.Pass(absl::Seconds(1));
  EXPECT_FALSE(next.ended);
}

TEST(PoolPatience, TenGoFirstAndTwoForEachThatIsAnswered) {
  LateUpstream upstream;
  for (int i = 0; i < 50; ++i) upstream.Call();
  upstream.run.Pass(absl::Seconds(1));
  TestServer& server = upstream.Come();
  server.Hold();
  upstream.run.Until([&] { return server.calls() >= 10; });
  upstream.run.Pass(absl::Seconds(1));
  EXPECT_EQ(server.calls(), 10);
  const TestCall& late = upstream.Call();
  server.Release();
  upstream.run.Until([&] { return late.ended; });
  EXPECT_EQ(server.calls(), 51);
}

TEST(PoolPatience, CallsWithoutPatienceFailAtOnce) {
  LateUpstream upstream;
  TestCall call(*upstream.run.pool);
  call.Start();
  const Instant asked = upstream.run.loop.now();
  upstream.run.Until([&] { return call.ended; });
  EXPECT_EQ(upstream.run.loop.now(), asked);
}

}  // namespace
}  // namespace levee
