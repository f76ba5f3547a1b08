// SPDX-License-Identifier: Apache-2.0
// Upstreams that restart, move and hang up while calls come.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/named_endpoints.h"
#include "integration/real_time.h"
#include "integration/scripted.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using grpc::StatusCode;
using namespace std::chrono_literals;

// A gRPC server that is told to stop cancels calls which come before its GOAWAY has left. The
// slower the machine, the more they are.
constexpr char kRestartRetry[] = "{codes: [UNAVAILABLE, CANCELLED], budget: {ratio: 1}}";

// The same, of calls that wait as long as a test does.
constexpr char kPatientRetry[] =
    "{codes: [UNAVAILABLE, CANCELLED], max_attempts: 50, min_remaining: off, "
    "budget: {ratio: 100, wait: 10m}}";

// How long a service is away in what is measured.
constexpr auto kAway = 1500ms;

// Callers that call all the time, one call after the other, until the destructor.
class SteadyCallers {
 public:
  SteadyCallers(const std::string& address, int count) : calls_of_(static_cast<size_t>(count)) {
    for (std::atomic<int>& calls : calls_of_) {
      threads_.emplace_back([this, &calls, channel = ConnectedChannel(address)] {
        for (; !over_; ++calls) {
          const Reply reply = CallUnary(channel);
          if (!reply.status.ok()) ++failed_;
        }
      });
    }
  }
  ~SteadyCallers() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  SteadyCallers(const SteadyCallers&) = delete;
  SteadyCallers& operator=(const SteadyCallers&) = delete;

  // Waits until each of them has made so many calls from now on.
  void AwaitMore(int calls) const {
    for (const std::atomic<int>& made : calls_of_) {
      EXPECT_TRUE(Eventually([&, until = made + calls] { return made >= until; }));
    }
  }
  int failed() const { return failed_; }

 private:
  std::vector<std::atomic<int>> calls_of_;
  std::atomic<int> failed_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

std::unique_ptr<FaultyService> ServiceAt(int port, const std::string& at = "127.0.0.1") {
  return std::make_unique<FaultyService>([](const SeenCall&) { return Answer(); },
                                         FaultyService::Options{.port = port, .at = at});
}

TEST(Restart, S6_ARestartOfTheOnlyEndpointFailsNoCall) {
  const ReservedPort reserved;
  auto service = ServiceAt(reserved.port());
  SidecarProcess sidecar({.endpoints = {service->address()}, .retry = kPatientRetry});
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  const SteadyCallers callers(sidecar.address(), 8);
  callers.AwaitMore(5);
  service->ShutDownGracefully();
  service.reset();
  // Nobody's call can end while the service is away.
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 0));
  EXPECT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 8));
  service = ServiceAt(reserved.port());
  callers.AwaitMore(5);
  EXPECT_EQ(callers.failed(), 0);
}

TEST(RestartSoak, S6_ARestartOfTheOnlyEndpointFailsNoCall) {
  const ReservedPort reserved;
  auto service = ServiceAt(reserved.port());
  SidecarProcess sidecar({.endpoints = {service->address()}, .retry = kRestartRetry});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  std::map<StatusCode, int> codes;
  std::thread load(
      [&] { codes = RunLoad({channel}, {.calls = 600, .per_second = 200, .deadline = 5s}); });
  EXPECT_TRUE(service->WaitFor([&] { return service->calls() > 50; }));
  service->ShutDownGracefully();
  service.reset();
  PassRealTime(kAway);
  service = ServiceAt(reserved.port());
  load.join();
  EXPECT_EQ(codes[StatusCode::OK], 600);
}

TEST(RestartSoak, S6_ARestartFailsNoCallOfAFleet) {
  constexpr int kSidecars = 6;
  constexpr auto kPause = 770ms;  // 1.3 calls a second from each
  const ReservedPort reserved;
  auto service = ServiceAt(reserved.port());
  std::vector<std::unique_ptr<SidecarProcess>> fleet;
  for (int i = 0; i < kSidecars; ++i) {
    fleet.push_back(std::make_unique<SidecarProcess>(
        ConfigParts{.endpoints = {service->address()}, .retry = kRestartRetry}));
  }
  std::atomic<int> failed = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < kSidecars; ++i) {
    callers.emplace_back([&, i] {
      const ChannelPtr channel = NewChannel(fleet[static_cast<size_t>(i)]->address());
      while (!over) {
        const Reply reply = CallUnary(channel, "x", [](grpc::ClientContext& context) {
          context.set_deadline(std::chrono::system_clock::now() + 5s);
        });
        if (!reply.status.ok()) ++failed;
        PassRealTime(kPause);
      }
    });
  }
  EXPECT_TRUE(service->WaitFor([&] { return service->calls() >= 2 * kSidecars; }));
  service->ShutDownGracefully();
  service.reset();
  PassRealTime(kAway);
  service = ServiceAt(reserved.port());
  EXPECT_TRUE(service->WaitFor([&] { return service->calls() >= 2 * kSidecars; }));
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
}

using RestartByName = NamedEndpoints;

TEST_F(RestartByName, S6b_ARollingRestartOfAllEndpointsOfANameFailsNoCall) {
  const ReservedPort reserved;
  constexpr int kPods = 3;
  std::vector<std::unique_ptr<FaultyService>> pods;
  std::vector<std::string> addresses;
  for (int i = 1; i <= kPods; ++i) {
    addresses.push_back("127.0.0." + std::to_string(i));
    pods.push_back(ServiceAt(reserved.port(), addresses.back()));
  }
  dns.Set("cart.test", {.addresses = addresses, .ttl = 600});
  const auto sidecar = Run("dns:cart.test:" + std::to_string(reserved.port()), kPatientRetry);
  EXPECT_TRUE(CallUnary(NewChannel(sidecar->address())).status.ok());
  const SteadyCallers callers(sidecar->address(), 4);
  callers.AwaitMore(5);
  // Each successor is in the answers before its predecessor goes.
  for (int i = 1; i <= kPods; ++i) {
    addresses.front() = "127.0.0." + std::to_string(kPods + i);
    pods.push_back(ServiceAt(reserved.port(), addresses.front()));
    std::rotate(addresses.begin(), addresses.begin() + 1, addresses.end());
    dns.Set("cart.test", {.addresses = addresses, .ttl = 600});
    pods.front()->ShutDownGracefully();
    pods.erase(pods.begin());
    callers.AwaitMore(5);
  }
  EXPECT_EQ(callers.failed(), 0);
}

struct Period {
  std::chrono::steady_clock::time_point begin, end;
};

std::chrono::steady_clock::time_point Now() { return std::chrono::steady_clock::now(); }

// Hangs up instead of answering, as soon as `poisonous` says so of a request.
RawUpstream::Script HangsUp(std::function<bool(const RawRequest&)> poisonous) {
  return [poisonous = std::move(poisonous)](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    for (auto request = peer.NextRequest(); request; request = peer.NextRequest()) {
      if (poisonous(*request)) return;
      peer.Answer(request->stream);
    }
  };
}

RawUpstream::Script HangsUpAtEachTwentieth() {
  return HangsUp([calls = std::make_shared<std::atomic<int>>(0)](const RawRequest&) {
    return ++*calls % 20 == 0;
  });
}

TEST(Restart, S7_AServiceThatHangsUpAtEachTwentiethCallFailsNoOther) {
  RawUpstream upstream(HangsUpAtEachTwentieth());
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  // One by one: no other is on its way when it hangs up.
  auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 300, .at_once = 1});
  EXPECT_EQ(codes[StatusCode::OK], 285);
}

TEST(RestartSoak, S7_AServiceThatHangsUpAtEachTwentiethCallFailsNoMoreCallsThanWithoutLevee) {
  RawUpstream behind(HangsUpAtEachTwentieth()), bare(HangsUpAtEachTwentieth());
  SidecarProcess sidecar({.endpoints = {behind.address()}});
  const Load load = {.calls = 300, .per_second = 50, .deadline = 5s};
  std::map<StatusCode, int> direct;
  std::thread without([&] { direct = RunLoad({NewChannel(bare.address())}, load); });
  std::map<StatusCode, int> codes = RunLoad({NewChannel(sidecar.address())}, load);
  without.join();
  EXPECT_LE(direct[StatusCode::OK], 285);
  // Callers without Levee lose a call now and then that was on its way.
  EXPECT_GE(codes[StatusCode::OK], direct[StatusCode::OK] - 2);
  EXPECT_GE(codes[StatusCode::OK], 264);
}

TEST(Restart, S7_CallsBesidePoisonousOnesDoNotFail) {
  RawUpstream upstream(HangsUp([](const RawRequest& request) {
    return Values(request.head, ":path") == "/test.Echo/Poison";
  }));
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  std::vector<Period> failed, poisonous;
  std::atomic<int> made = 0;
  std::atomic<bool> over = false;
  std::thread innocent([&] {
    const ChannelPtr channel = NewChannel(sidecar.address());
    for (; !over; ++made) {
      const auto begun = Now();
      if (!CallUnary(channel).status.ok()) failed.push_back({begun, Now()});
    }
  });
  const ChannelPtr channel = NewChannel(sidecar.address());
  constexpr int kPoisonous = 8;
  for (int i = 0; i < kPoisonous; ++i) {
    const auto begun = Now();
    CallUnary(channel, "x", nullptr, "/test.Echo/Poison");
    poisonous.push_back({begun, Now()});
    EXPECT_TRUE(Eventually([&, until = made + 10] { return made >= until; }));
  }
  over = true;
  innocent.join();
  // Those that the service had not answered when it hung up are lost, and none that came later.
  for (const Period& lost : failed) {
    EXPECT_TRUE(std::any_of(poisonous.begin(), poisonous.end(), [&](const Period& poison) {
      return lost.begin <= poison.end && poison.begin <= lost.end;
    }));
  }
  EXPECT_LE(failed.size(), size_t{kPoisonous});
}

}  // namespace
}  // namespace levee
