// SPDX-License-Identifier: Apache-2.0
// The state of a sidecar, on virtual time.
#include "admin/state_keeper.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "admin/fake_sidecar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class StateKeeperTest : public testing::Test {
 protected:
  // Looks at every whole second up to `last`.
  void LookUntil(int last) {
    for (int second = 0; second <= last; ++second) keeper_.Tick(sidecar_.At(second));
  }
  static admin::v1::GetStateRequest Request(uint32_t since, const std::string& upstream = "",
                                            const std::string& details_of = "") {
    admin::v1::GetStateRequest request;
    request.set_since(since);
    request.set_upstream(upstream);
    request.set_details_of(details_of);
    return request;
  }
  admin::v1::State Read(uint32_t since = 0, const std::string& upstream = "",
                        const std::string& details_of = "") {
    const auto state = keeper_.Read(Request(since, upstream, details_of));
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() ? *state : admin::v1::State();
  }
  // "number:calls" of the first upstream's samples.
  std::vector<std::string> Samples(uint32_t since = 0) {
    std::vector<std::string> samples;
    const admin::v1::State state = Read(since);
    for (const auto& sample : state.upstreams(0).samples()) {
      samples.push_back(std::to_string(sample.number()) + ":" + std::to_string(sample.calls()));
    }
    return samples;
  }
  std::vector<uint32_t> CallNumbers(uint32_t since = 0, const std::string& upstream = "") {
    std::vector<uint32_t> numbers;
    const admin::v1::State state = Read(since, upstream);
    for (const auto& call : state.calls()) numbers.push_back(call.number());
    return numbers;
  }

  FakeSidecar sidecar_;
  StateKeeper keeper_{sidecar_, "instance-1"};
};

TEST_F(StateKeeperTest, BeforeTheFirstSecondThereAreUpstreamsWithoutSamples) {
  keeper_.Tick(sidecar_.At(0));
  const admin::v1::State state = Read();
  EXPECT_EQ(state.next(), 0);
  EXPECT_EQ(state.instance(), "instance-1");
  EXPECT_EQ(state.time(), 1767225660);
  ASSERT_EQ(state.upstreams_size(), 1);
  EXPECT_EQ(state.upstreams(0).name(), "cart");
  EXPECT_THAT(state.upstreams(0).samples(), IsEmpty());
  EXPECT_EQ(state.upstreams(0).rates().callers_ok(), 1);
  EXPECT_EQ(state.upstreams(0).rates().amplification(), 1);
}

TEST_F(StateKeeperTest, EverySecondIsASampleOfWhatItAdded) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Count("cart", StatusCode::kOk, 5);
  keeper_.Tick(sidecar_.At(1.02));
  keeper_.Tick(sidecar_.At(2.02));
  sidecar_.Count("cart", StatusCode::kUnavailable, 2);
  keeper_.Tick(sidecar_.At(3.02));
  EXPECT_THAT(Samples(), ElementsAre("1:5", "2:0", "3:2"));
  EXPECT_EQ(Read().next(), 3);
}

TEST_F(StateKeeperTest, ASecondThatIsNotOverIsNotLookedAt) {
  keeper_.Tick(sidecar_.At(0));
  keeper_.Tick(sidecar_.At(0.999));
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(1.5));
  EXPECT_THAT(Samples(), ElementsAre("1:0"));
}

TEST_F(StateKeeperTest, ASecondThatWasMissedIsPartOfTheNext) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Count("cart", StatusCode::kOk, 4);
  keeper_.Tick(sidecar_.At(3.1));
  EXPECT_THAT(Samples(), ElementsAre("3:4"));
}

TEST_F(StateKeeperTest, WhatWasCountedBeforeItBeganIsPartOfNoSample) {
  sidecar_.Count("cart", StatusCode::kOk, 500);
  keeper_.Tick(sidecar_.At(40.5));
  sidecar_.Count("cart", StatusCode::kOk, 3);
  keeper_.Tick(sidecar_.At(41));
  EXPECT_THAT(Samples(), ElementsAre("41:3"));
  EXPECT_EQ(Read().upstreams(0).rates().calls_per_second(), 3);
}

TEST_F(StateKeeperTest, OnlyLaterSecondsAreGivenIfAsked) {
  LookUntil(4);
  EXPECT_THAT(Samples(2), ElementsAre("3:0", "4:0"));
  EXPECT_THAT(Samples(4), IsEmpty());
  EXPECT_THAT(Samples(4'000'000'000), IsEmpty());
}

TEST_F(StateKeeperTest, FiveMinutesAreKept) {
  LookUntil(400);
  const auto samples = Samples();
  EXPECT_EQ(samples.size(), 300);
  EXPECT_EQ(samples.front(), "101:0");
  EXPECT_EQ(samples.back(), "400:0");
}

TEST_F(StateKeeperTest, AnUpstreamShowsItsThrottleAndHowManyRetriesWait) {
  LookUntil(1);
  EXPECT_EQ(Read().upstreams(0).throttle_probability(), 0.25);
  EXPECT_EQ(Read().upstreams(0).retries_waiting(), 4);
}

TEST_F(StateKeeperTest, AnUpstreamShowsItsGuardWhereThereIsOne) {
  LookUntil(1);
  EXPECT_FALSE(Read().upstreams(0).has_guard());
  sidecar_.SetGuards({{"cart", {.limit = 8, .in_flight = 3}}});
  RecordGuard(sidecar_.metrics.Guard(0, "cart"),
              {.decision = GuardDecision::kRefused, .reason = GuardReason::kConcurrency});
  keeper_.Tick(sidecar_.At(2));
  const admin::v1::Upstream upstream = Read().upstreams(0);
  EXPECT_EQ(upstream.guard().limit(), 8);
  EXPECT_THAT(upstream.guard().refused_per_second(), ElementsAre(Pair("concurrency", 0.5)));
  ASSERT_EQ(upstream.samples_size(), 2);
  EXPECT_FALSE(upstream.samples(0).has_guard());
  EXPECT_EQ(upstream.samples(1).guard().in_flight(), 3);
}

TEST_F(StateKeeperTest, RatesAreThoseOfTheLastTenSeconds) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Count("cart", StatusCode::kUnavailable, 1000);
  for (int second = 1; second <= 20; ++second) {
    keeper_.Tick(sidecar_.At(second));
    sidecar_.Count("cart", StatusCode::kOk, 3);
    sidecar_.Count("cart", StatusCode::kUnavailable, 1);
  }
  const admin::v1::Rates rates = Read().upstreams(0).rates();
  EXPECT_EQ(rates.calls_per_second(), 4);
  EXPECT_EQ(rates.attempts_per_second(), 4);
  EXPECT_EQ(rates.callers_ok(), 0.75);
  EXPECT_EQ(rates.attempts_ok(), 0.75);
  EXPECT_EQ(rates.amplification(), 1);
}

TEST_F(StateKeeperTest, YoungerThanTenSecondsRatesAreOfItsAge) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Count("cart", StatusCode::kOk, 8);
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(2));
  EXPECT_EQ(Read().upstreams(0).rates().calls_per_second(), 4);
}

TEST_F(StateKeeperTest, TheBudgetIsTheNewest) {
  LookUntil(1);
  const admin::v1::Budget budget = Read().upstreams(0).budget();
  EXPECT_EQ(budget.available(), 7);
  EXPECT_EQ(budget.limit(), 10);
  EXPECT_EQ(budget.ratio(), 0.1);
  EXPECT_EQ(budget.empty_seconds(), 0);
}

TEST_F(StateKeeperTest, AnUpstreamThatFailsGetsAVerdict) {
  keeper_.Tick(sidecar_.At(0));
  EXPECT_EQ(Read().upstreams(0).severity(), admin::v1::Upstream::SEVERITY_CALM);
  sidecar_.Count("cart", StatusCode::kUnavailable, 100);
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(Read().upstreams(0).severity(), admin::v1::Upstream::SEVERITY_ALARM);
  EXPECT_NE(Read().upstreams(0).verdict(), "");
}

TEST_F(StateKeeperTest, UpstreamsOutsideTheConfigurationAreShownWhileTheyWereCalled) {
  sidecar_.Count("gone", StatusCode::kOk);
  keeper_.Tick(sidecar_.At(0));
  EXPECT_EQ(Read().upstreams_size(), 1);
  sidecar_.Count("none", StatusCode::kUnimplemented);
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(Read().upstreams(0).last_called(), 0);
  EXPECT_EQ(Read().upstreams(1).last_called(), 1);
  ASSERT_EQ(Read().upstreams_size(), 2);
  EXPECT_EQ(Read().upstreams(1).name(), "none");
  for (int second = 2; second <= 301; ++second) keeper_.Tick(sidecar_.At(second));
  EXPECT_EQ(Read().upstreams_size(), 1);
}

TEST_F(StateKeeperTest, AnUnknownUpstreamIsNotFound) {
  LookUntil(1);
  const auto state = keeper_.Read(Request(0, "card"));
  EXPECT_EQ(state.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(state.status().message(), "there is no upstream \"card\"");
  EXPECT_EQ(Read(0, "cart").upstreams_size(), 1);
}

TEST_F(StateKeeperTest, CallsComeWithTheSecondInWhichTheyEnded) {
  keeper_.Tick(sidecar_.At(0));
  sidecar_.Remember(0.5, 1);
  keeper_.Tick(sidecar_.At(1));
  sidecar_.Remember(0.5, 1.000000001);
  keeper_.Tick(sidecar_.At(2));
  sidecar_.Remember(2.5, 2.75);
  EXPECT_THAT(CallNumbers(), ElementsAre(1, 2)) << "the third second is not over";
  EXPECT_THAT(CallNumbers(1), ElementsAre(2));
  EXPECT_THAT(CallNumbers(2), IsEmpty());
  keeper_.Tick(sidecar_.At(3));
  EXPECT_THAT(CallNumbers(2), ElementsAre(3)) << "nothing is lost, nothing comes twice";
}

TEST_F(StateKeeperTest, ACallThatIsNotedLateComesWithThatSecond) {
  LookUntil(2);
  sidecar_.Remember(1.5, 1.75);
  EXPECT_THAT(CallNumbers(2), IsEmpty());
  keeper_.Tick(sidecar_.At(3));
  EXPECT_THAT(CallNumbers(2), ElementsAre(3));
}

TEST_F(StateKeeperTest, CallsOfOtherUpstreamsAreLeftOutIfOneIsAskedFor) {
  sidecar_.Remember(0.1, 0.2, "cart");
  sidecar_.Remember(0.1, 0.3, "none");
  LookUntil(1);
  EXPECT_THAT(CallNumbers(), ElementsAre(1, 1));
  EXPECT_THAT(CallNumbers(0, "cart"), ElementsAre(1));
}

TEST_F(StateKeeperTest, SaysWhatTheSidecarDoes) {
  sidecar_.metrics.Worker(0).active_calls.Add(2);
  sidecar_.metrics.Worker(1).active_calls.Add(3);
  sidecar_.metrics.Worker(1).downstream_connections.Add(4);
  sidecar_.metrics.Worker(1).limit_hits[Limit::kDestinations].Add(6);
  admin::v1::Sidecar sidecar = Read().sidecar();
  EXPECT_EQ(sidecar.version(), "0.1.0");
  EXPECT_EQ(sidecar.commit(), "abc");
  EXPECT_EQ(sidecar.phase(), admin::v1::Sidecar::PHASE_SERVING);
  EXPECT_EQ(sidecar.started(), 1767225600);
  EXPECT_EQ(sidecar.workers(), 2);
  EXPECT_EQ(sidecar.active_calls(), 5);
  EXPECT_EQ(sidecar.downstream_connections(), 4);
  EXPECT_THAT(sidecar.limit_hits(), ElementsAre(Pair("destinations", 6)));
  EXPECT_THAT(sidecar.leases(), ElementsAre(Pair("tenant", "stale")));
  ASSERT_TRUE(sidecar.keys().contains("cart"));
  EXPECT_EQ(sidecar.keys().at("cart").keys(), 3);
  EXPECT_EQ(sidecar.keys().at("cart").bytes(), 4096);
  sidecar_.draining = true;
  EXPECT_EQ(Read().sidecar().phase(), admin::v1::Sidecar::PHASE_DRAINING);
}

TEST_F(StateKeeperTest, SaysWhatShadowPoliciesWouldHaveDone) {
  EXPECT_EQ(Read().sidecar().shadows_size(), 0);
  sidecar_.metrics.Shadow(0, "default", "candidate").calls[ShadowOutcome::kMore].Add(2);
  sidecar_.metrics.Shadow(1, "default", "candidate").calls[ShadowOutcome::kMore].Add(3);
  sidecar_.metrics.Shadow(1, "default", "candidate").calls[ShadowOutcome::kSame].Add(7);
  const admin::v1::Sidecar sidecar = Read().sidecar();
  ASSERT_EQ(sidecar.shadows_size(), 1);
  EXPECT_EQ(sidecar.shadows(0).policy(), "default");
  EXPECT_EQ(sidecar.shadows(0).shadow(), "candidate");
  EXPECT_EQ(sidecar.shadows(0).same(), 7u);
  EXPECT_EQ(sidecar.shadows(0).more(), 5u);
  EXPECT_EQ(sidecar.shadows(0).fewer(), 0u);
}

TEST_F(StateKeeperTest, SaysWhichConfigurationRuns) {
  ConfigStatus status = sidecar_.status();
  EXPECT_EQ(Read().configuration().last_attempt(), 0);
  EXPECT_FALSE(Read().configuration().last_reload_refused());
  status.reloads = 2;
  status.refused = 1;
  status.last_attempt = absl::FromUnixSeconds(1767225700);
  status.faults = {"levee.yaml:1:1: LV101 x: unknown field"};
  status.warnings = {"levee.yaml:2:1: LV201 y: dangerous"};
  sidecar_.SetStatus(status);
  const admin::v1::Configuration configuration = Read().configuration();
  EXPECT_EQ(configuration.sha256(), status.snapshot->sha256);
  EXPECT_EQ(configuration.loaded(), 1767225600);
  EXPECT_THAT(configuration.files(), ElementsAre("levee.yaml"));
  EXPECT_EQ(configuration.reloads(), 2);
  EXPECT_EQ(configuration.refused_reloads(), 1);
  EXPECT_TRUE(configuration.last_reload_refused());
  EXPECT_THAT(configuration.faults(), ElementsAre(status.faults[0]));
  EXPECT_EQ(configuration.last_attempt(), 1767225700);
  EXPECT_THAT(configuration.warnings(), ElementsAre(status.warnings[0]));
}

TEST_F(StateKeeperTest, SaysWhereCallsAreTaken) {
  EXPECT_THAT(Read().sidecar().listeners(), IsEmpty());
  sidecar_.listeners = {"egress 127.0.0.1:9460"};
  EXPECT_THAT(Read().sidecar().listeners(), ElementsAre("egress 127.0.0.1:9460"));
}

TEST_F(StateKeeperTest, WhoListensHearsOfEverySecondUntilItEnds) {
  int heard = 0;
  {
    const StateKeeper::Listening listening(keeper_, [&heard] { ++heard; });
    keeper_.Tick(sidecar_.At(0));
    keeper_.Tick(sidecar_.At(0.5));
    keeper_.Tick(sidecar_.At(1));
    EXPECT_EQ(heard, 2);
  }
  keeper_.Tick(sidecar_.At(2));
  EXPECT_EQ(heard, 2);
}

TEST_F(StateKeeperTest, TheWorkersAreAskedOnceASecondAndOnlyIfSomebodyWantsToKnow) {
  int asked = 0;
  sidecar_.endpoints = [&asked] {
    ++asked;
    return std::vector<EndpointView>{{.upstream = "cart", .address = "a", .state = "ready"}};
  };
  LookUntil(3);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(Read().upstreams(0).endpoints_size(), 1);
  EXPECT_EQ(keeper_.Endpoints()->size(), 1);
  EXPECT_EQ(Read(3).upstreams(0).endpoints_size(), 1);
  EXPECT_EQ(asked, 1);
  keeper_.Tick(sidecar_.At(4));
  EXPECT_EQ(asked, 1);
  Read();
  EXPECT_EQ(asked, 2);
}

TEST_F(StateKeeperTest, ASidecarWithoutEndpointsIsAskedOnceTooASecond) {
  int asked = 0;
  sidecar_.endpoints = [&asked] { return ++asked, std::vector<EndpointView>(); };
  Read();
  Read();
  EXPECT_EQ(asked, 1);
}

// Many upstreams, each with two endpoints of its own.
class ManyUpstreamsTest : public StateKeeperTest {
 protected:
  static constexpr int kUpstreams = 1000;
  static std::string Name(int i) { return "upstream-" + std::to_string(i); }

  ManyUpstreamsTest() {
    ConfigStatus status = sidecar_.status();
    auto snapshot = std::make_shared<Snapshot>(*status.snapshot);
    snapshot->upstreams.clear();
    std::vector<EndpointView> endpoints;
    for (int i = 0; i < kUpstreams; ++i) {
      snapshot->upstreams.emplace_back().name = Name(i);
      endpoints.push_back({.upstream = Name(i), .address = "10.0.0.1:50051", .state = "ready"});
      endpoints.push_back({.upstream = Name(i), .address = "10.0.0.2:50051", .state = "failing"});
      sidecar_.metrics.Method(0, Name(i), "/shop.Cart/Add");
    }
    status.snapshot = snapshot;
    sidecar_.SetStatus(status);
    sidecar_.SetEndpoints(std::move(endpoints));
  }
};

TEST_F(ManyUpstreamsTest, MoreSamplesThanAnAnswerHoldsAreLeftOutOfAll) {
  LookUntil(3);
  EXPECT_EQ(Read().upstreams(999).samples_size(), 3);
  EXPECT_FALSE(Read().upstreams(999).samples_left_out());
  keeper_.Tick(sidecar_.At(4));
  const admin::v1::State state = Read();
  ASSERT_EQ(state.upstreams_size(), kUpstreams);
  for (const admin::v1::Upstream& upstream : state.upstreams()) {
    EXPECT_THAT(upstream.samples(), IsEmpty());
    EXPECT_TRUE(upstream.samples_left_out());
  }
  EXPECT_EQ(Read(3).upstreams(999).samples_size(), 1) << "what a second adds is not too much";
}

TEST_F(ManyUpstreamsTest, DetailsAreGivenOfTheOneThatIsAskedFor) {
  LookUntil(4);
  const admin::v1::State state = Read(0, "", Name(700));
  ASSERT_EQ(state.upstreams_size(), kUpstreams);
  EXPECT_EQ(state.upstreams(700).samples_size(), 4);
  EXPECT_EQ(state.upstreams(700).endpoints_size(), 2);
  EXPECT_FALSE(state.upstreams(700).samples_left_out());
  EXPECT_EQ(state.upstreams(700).endpoints_left_out(), 0);
  EXPECT_THAT(state.upstreams(701).samples(), IsEmpty());
  EXPECT_THAT(state.upstreams(701).endpoints(), IsEmpty());
  EXPECT_TRUE(state.upstreams(701).samples_left_out());
  EXPECT_EQ(state.upstreams(701).endpoints_left_out(), 2);
  EXPECT_EQ(state.upstreams(701).endpoint_counts().ready(), 1);
  EXPECT_EQ(state.upstreams(701).endpoint_counts().failing(), 1);
  EXPECT_NE(state.upstreams(701).verdict(), "");
  EXPECT_EQ(Read(0, "", "card").upstreams_size(), kUpstreams);
}

TEST_F(ManyUpstreamsTest, AnAnswerHoldsAThousandEndpoints) {
  LookUntil(1);
  const admin::v1::State state = Read();
  EXPECT_EQ(state.upstreams(499).endpoints_size(), 2);
  EXPECT_EQ(state.upstreams(500).endpoints_size(), 0);
  EXPECT_EQ(state.upstreams(500).endpoints_left_out(), 2);
}

TEST_F(ManyUpstreamsTest, TheLargestStateIsSmallerThanWhatClientsTake) {
  keeper_.Tick(sidecar_.At(0));
  for (int i = 0; i < kUpstreams; ++i) sidecar_.Count(Name(i), StatusCode::kUnavailable);
  const int calls = RecentCalls::kKept;
  for (int i = 0; i < calls; ++i) sidecar_.Remember(i, i + 0.5, std::string(100'000, 'x'));
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(2));
  keeper_.Tick(sidecar_.At(3));
  const admin::v1::State state = Read();
  EXPECT_EQ(state.upstreams(999).samples_size(), 3);
  EXPECT_GT(state.calls_size(), 500);
  EXPECT_LT(state.calls_size(), calls);
  EXPECT_EQ(state.calls().rbegin()->start(), 1767225600 + calls - 1) << "the newest are there";
  EXPECT_LT(state.ByteSizeLong(), size_t{3} << 20);
}

// With a thread and the real clock.
TEST(RunningStateKeeper, LooksBySoonAfterASecond) {
  FakeSidecar sidecar;
  const Instant begun = net::ReadClock();
  sidecar.now = [&] { return sidecar.At(10.9) + (net::ReadClock() - begun); };
  StateKeeper keeper(sidecar, "i");
  std::mutex mutex;
  std::condition_variable heard;
  int seconds = 0;
  const StateKeeper::Listening listening(keeper, [&] {
    const std::lock_guard lock(mutex);
    ++seconds;
    heard.notify_all();
  });
  keeper.Start();
  keeper.Start();
  std::unique_lock lock(mutex);
  heard.wait(lock, [&] { return seconds >= 2; });
  EXPECT_GE(keeper.second(), 11);
  lock.unlock();
  keeper.Stop();
  keeper.Stop();
}

TEST(RunningStateKeeper, APauseThatBeginsWhileItLooksIsOne) {
  FakeSidecar sidecar;
  std::atomic<int> asked = 0;
  // Start sees nothing new, its thread does.
  sidecar.now = [&] { return sidecar.At(++asked == 1 ? 0.5 : 1.5); };
  std::promise<void> looking;
  std::promise<void> proceed;
  std::atomic<int> looks = 0;
  sidecar.budgets = [&] {
    if (++looks == 2) {
      looking.set_value();
      proceed.get_future().wait();
    }
    return std::vector<BudgetGauges>();
  };
  StateKeeper keeper(sidecar, "i");
  keeper.Tick(sidecar.At(0));
  keeper.Start();
  looking.get_future().wait();
  std::atomic<bool> has_stopped = false;
  std::thread stopping([&] { keeper.Stop(), has_stopped = true; });
  // It looks as long as a Stop that does not wait for it might take to return.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  EXPECT_FALSE(has_stopped);
  proceed.set_value();
  stopping.join();
  sidecar.Count("cart", StatusCode::kOk, 100);
  keeper.Tick(sidecar.At(50));
  const auto state = keeper.Read({});
  ASSERT_TRUE(state.ok());
  for (const auto& sample : state->upstreams(0).samples()) EXPECT_EQ(sample.calls(), 0);
}

TEST(RunningStateKeeper, AfterAPauseBeginsAnew) {
  FakeSidecar sidecar;
  StateKeeper keeper(sidecar, "i");
  keeper.Start();
  keeper.Stop();
  sidecar.Count("cart", StatusCode::kOk, 100);
  keeper.Tick(sidecar.At(50));
  keeper.Tick(sidecar.At(51));
  const auto state = keeper.Read({});
  ASSERT_TRUE(state.ok());
  ASSERT_EQ(state->upstreams(0).samples_size(), 1);
  EXPECT_EQ(state->upstreams(0).samples(0).calls(), 0);
}

}  // namespace
}  // namespace levee
