// SPDX-License-Identifier: Apache-2.0
#include "demo/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "admin/http_client.h"
#include "demo/clients.h"
#include "demo/fault_port.h"
#include "demo/load_run.h"
#include "net/event_loop.h"

namespace levee::demo {
namespace {

using ::testing::HasSubstr;

// No call takes so long, on whatever machine.
constexpr absl::Duration kLong = absl::Hours(1);

constexpr Capacity kQuick{
    .workers = 4, .work = absl::Milliseconds(1), .time_limit = kLong, .line = 1000};

class DemoServiceTest : public ::testing::Test {
 protected:
  // A channel without retries.
  std::shared_ptr<grpc::Channel> Channel() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    return grpc::CreateCustomChannel(service_->address(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  grpc::Status GetPrice(const std::string& item, v1::GetPriceReply& reply) {
    grpc::ClientContext context;
    context.AddMetadata("grpc-previous-rpc-attempts", "2");
    v1::GetPriceRequest request;
    request.set_item(item);
    return v1::Shop::NewStub(Channel())->GetPrice(&context, request, &reply);
  }

  grpc::Status SetFaults(double failing) {
    grpc::ClientContext context;
    v1::FaultSet request;
    v1::FaultSet reply;
    request.set_failing(failing);
    return v1::Faults::NewStub(Channel())->Set(&context, request, &reply);
  }

  // Waits in a loop until `done`, as the demo does.
  template <typename Done>
  void RunUntil(Done done) {
    struct Turns final : net::TurnHandler {
      Turns(net::EventLoop& running, Done& end) : loop(running), done(end) {}
      Instant OnTurnEnd(Instant now) override {
        if (done(now)) loop.Stop();
        return now + absl::Milliseconds(1);
      }
      net::EventLoop& loop;
      Done& done;
    };
    net::EventLoop loop;
    Turns turns(loop, done);
    loop.SetTurnHandler(&turns);
    loop.Run();
  }

  std::unique_ptr<DemoService> service_ = std::make_unique<DemoService>(kQuick, 1);
};

TEST_F(DemoServiceTest, AnswersAndSaysWhichAttemptItWas) {
  v1::GetPriceReply reply;
  const grpc::Status status = GetPrice("tea", reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.item(), "tea");
  EXPECT_GT(reply.cents(), 0);
  EXPECT_EQ(reply.attempt(), 3);
  EXPECT_GE(reply.took_ms(), 1);
  EXPECT_EQ(service_->arrived(), 1);
}

TEST_F(DemoServiceTest, FailsAndRecoversAsItIsTold) {
  v1::GetPriceReply reply;
  ASSERT_TRUE(SetFaults(1).ok());
  const grpc::Status status = GetPrice("tea", reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("switched on"));
  ASSERT_TRUE(SetFaults(0).ok());
  EXPECT_TRUE(GetPrice("tea", reply).ok());
}

TEST_F(DemoServiceTest, RefusesAShareAboveOne) {
  EXPECT_EQ(SetFaults(1.5).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(SetFaults(-1).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(DemoServiceTest, TakesFaultsByHttp) {
  const auto port = ServeFaults(*service_);
  ASSERT_TRUE(port.ok()) << port.status();
  v1::GetPriceReply reply;
  const HttpAnswer broken = Ask((*port)->port(), "POST", "/faults?failing=1");
  EXPECT_EQ(broken.status, 200);
  EXPECT_EQ(broken.body, "failing=1 workers_down=0\n");
  EXPECT_EQ(GetPrice("tea", reply).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Ask((*port)->port(), "POST", "/faults?failing=0").status, 200);
  EXPECT_TRUE(GetPrice("tea", reply).ok());
}

TEST_F(DemoServiceTest, RefusesByHttpWhatIsNoShare) {
  const auto port = ServeFaults(*service_);
  ASSERT_TRUE(port.ok()) << port.status();
  const HttpAnswer above = Ask((*port)->port(), "POST", "/faults?failing=1.5");
  EXPECT_EQ(above.status, 400);
  EXPECT_EQ(above.body, "failing is a number from 0 to 1\n");
  for (const char* query : {"failing=nan", "failing=", "workers_down=-1", "faling=1"}) {
    EXPECT_EQ(Ask((*port)->port(), "POST", std::string("/faults?") + query).status, 400) << query;
  }
  EXPECT_EQ(Ask((*port)->port(), "GET", "/faults?failing=1").status, 405);
  EXPECT_EQ(Ask((*port)->port(), "POST", "/").status, 404);
  v1::GetPriceReply reply;
  EXPECT_TRUE(GetPrice("tea", reply).ok());
}

TEST_F(DemoServiceTest, PlainClientsMakeThreeAttempts) {
  ASSERT_TRUE(SetFaults(1).ok());
  Clients clients(service_->address(), ClientRetries::kThreeAttempts, kLong);
  clients.StartCall();
  RunUntil([&](Instant) { return clients.counts().failed == 1; });
  EXPECT_EQ(service_->arrived(), 3);
}

TEST_F(DemoServiceTest, ClientsBehindLeveeMakeOneAttempt) {
  ASSERT_TRUE(SetFaults(1).ok());
  Clients clients(service_->address(), ClientRetries::kNone, kLong);
  clients.StartCall();
  RunUntil([&](Instant) { return clients.counts().failed == 1; });
  EXPECT_EQ(service_->arrived(), 1);
}

TEST_F(DemoServiceTest, ClientsCancelWhatIsActiveWhenTheyGo) {
  {
    Clients clients(service_->address(), ClientRetries::kNone, kLong);
    for (int i = 0; i < 20; ++i) clients.StartCall();
  }
  v1::GetPriceReply reply;
  EXPECT_TRUE(GetPrice("tea", reply).ok());
}

TEST_F(DemoServiceTest, AnswersWhatWaitsWhenItStops) {
  service_ = std::make_unique<DemoService>(
      Capacity{.workers = 1, .work = absl::Hours(1), .time_limit = absl::Hours(1), .line = 10}, 1);
  Clients clients(service_->address(), ClientRetries::kNone, kLong);
  clients.StartCall();
  clients.StartCall();
  RunUntil([&](Instant) { return service_->arrived() == 2; });
  service_.reset();
  RunUntil([&](Instant) { return clients.counts().failed == 2; });
}

// Loads the service on a clock that stands still while calls are under way, or a fault has not come
// to the service.
RunRecord RunOnVirtualTime(const DemoService& service, LoadRun::Setup setup) {
  setup.call_deadline = kLong;
  FaultSwitch faults(service.address());
  Instant now = Instant() + absl::Hours(1);
  LoadRun run(setup, service, faults, now);
  const auto settled = [&] {
    const CallCounts calls = run.calls();
    const bool storm = run.phase() == Phase::kStorm;
    return calls.ok + calls.failed == calls.started &&
           service.faults() == (storm ? setup.load.storm_faults : FaultShares{});
  };
  for (; !run.over(); now = now + absl::Milliseconds(1)) {
    run.Advance(now);
    while (!settled()) std::this_thread::yield();
  }
  return run.record();
}

LoadRun::Setup SetupOf(const DemoService& service, const Load& load) {
  return {.address = service.address(),
          .retries = ClientRetries::kNone,
          .load = load,
          .schedule = {absl::Milliseconds(500), absl::Milliseconds(500), absl::Milliseconds(1500)},
          .seed = 1};
}

TEST_F(DemoServiceTest, ARunSwitchesTheFaultOnAndOff) {
  const Summary summary = Summarize(RunOnVirtualTime(
      *service_,
      SetupOf(*service_,
              {.calm_per_second = 200, .storm_per_second = 200, .storm_faults = {.failing = 1}})));
  EXPECT_GT(summary.calm_goodput, 150);
  EXPECT_LT(summary.storm_goodput, 10);
  EXPECT_TRUE(summary.recovery.has_value());
  EXPECT_EQ(summary.amplification, 1);
}

TEST_F(DemoServiceTest, ARunMakesMoreCallsInAStormAndKnowsHowLongTheGoodOnesTook) {
  const RunRecord record = RunOnVirtualTime(
      *service_, SetupOf(*service_, {.calm_per_second = 20, .storm_per_second = 200}));
  const double before = record.Over(absl::ZeroDuration(), absl::Milliseconds(500)).calls;
  const double after = record.Over(absl::Seconds(2), absl::Milliseconds(2500)).calls;
  EXPECT_GT(record.Over(absl::Milliseconds(500), absl::Seconds(1)).calls,
            2 * std::max(before, after));
  EXPECT_GE(record.storm_times().Percentile(0.5), kQuick.work);
}

class DemoServiceSoak : public DemoServiceTest {};

TEST_F(DemoServiceSoak, ARunOnTheRealClockServesWhatItIsAskedFor) {
  FaultSwitch faults(service_->address());
  const LoadRun::Setup setup = SetupOf(
      *service_, {.calm_per_second = 200, .storm_per_second = 200, .storm_faults = {.failing = 1}});
  LoadRun run(setup, *service_, faults, net::ReadClock());
  RunUntil([&](Instant now) {
    run.Advance(now);
    return run.over();
  });
  const Summary summary = Summarize(run.record());
  std::printf("%.0f good calls a second, and %.0f in the storm; amplification %.3f\n",
              summary.calm_goodput, summary.storm_goodput, summary.amplification);
  EXPECT_GT(summary.calm_goodput, 50);
  EXPECT_LT(summary.storm_goodput, summary.calm_goodput / 2);
  EXPECT_TRUE(summary.recovery.has_value());
  EXPECT_NEAR(summary.amplification, 1, 0.05);
}

}  // namespace
}  // namespace levee::demo
