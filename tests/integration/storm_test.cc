// SPDX-License-Identifier: Apache-2.0
// The contract on storms through the binary, in seconds: what the machine has no time for is
// measured here, and decided on virtual time (CallStormMoment, CallStormSaturation). Attempts are
// compared with calls as the service sees both: the first attempt of a call does not name attempts
// before it. So a slow machine changes how many there are, and not their ratio.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "demo/load_run.h"
#include "demo/service.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/real_time.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

// What arrived at a service from `begin` to `end`, which count from `since`.
class Arrived {
 public:
  Arrived(const FaultyService& service, steady_clock::time_point since)
      : seen_(service.seen()), since_(since) {}

  double PerCall(milliseconds begin, milliseconds end) const {
    int attempts = 0, calls = 0;
    for (const SeenCall& each : seen_) {
      if (each.at < since_ + begin || each.at >= since_ + end) continue;
      ++attempts;
      if (!each.metadata.contains("grpc-previous-rpc-attempts")) ++calls;
    }
    std::cout << attempts << " attempts of " << calls << " calls\n";
    return static_cast<double>(attempts) / calls;
  }

 private:
  const std::vector<SeenCall> seen_;
  const steady_clock::time_point since_;
};

// Fails everything once it is told to.
class Outage {
 public:
  void Begin() {
    begin_ = steady_clock::now();
    begun_ = true;
  }
  steady_clock::time_point begin() const { return begin_; }
  FaultyService::Script script() {
    return [this](const SeenCall&) { return begun_ ? Fails(StatusCode::UNAVAILABLE) : Answer(); };
  }

 private:
  steady_clock::time_point begin_;
  std::atomic<bool> begun_ = false;
};

TEST(StormSoak, S1_AnOutageSeesAtMost15PercentMoreInItsFirstSecondAndTwoFromTheThirdOn) {
  Outage outage;
  FaultyService service(outage.script());
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--workers", "2"});
  const std::vector<ChannelPtr> channels = {NewChannel(sidecar.address()),
                                            NewChannel(sidecar.address())};
  RunLoad(channels, {.calls = 400, .per_second = 200});
  outage.Begin();
  RunLoad(channels, {.calls = 900, .per_second = 200});
  const Arrived arrived(service, outage.begin());
  EXPECT_LE(arrived.PerCall(0s, 1s), 1.15);
  EXPECT_LE(arrived.PerCall(2s, 3s), 1.02);
  EXPECT_LE(arrived.PerCall(3s, 4s), 1.02);
}

TEST(StormSoak, S2_AnOutageSeesTenPercentMoreFromQuietSidecars) {
  constexpr int kSidecars = 8;
  constexpr int kCalls = 26;  // of each during the outage: 1.3/s for 20 s, at twice the pace
  Outage outage;
  FaultyService service(outage.script());
  std::vector<std::unique_ptr<SidecarProcess>> fleet;
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < kSidecars; ++i) {
    fleet.push_back(
        std::make_unique<SidecarProcess>(ConfigParts{.endpoints = {service.address()}}));
    channels.push_back(NewChannel(fleet.back()->address()));
  }
  const double pace = 2.6 * kSidecars;
  RunLoad(channels, {.calls = 8 * kSidecars, .per_second = pace});
  outage.Begin();
  RunLoad(channels, {.calls = kCalls * kSidecars, .per_second = pace});
  const Arrived arrived(service, outage.begin());
  EXPECT_LE(arrived.PerCall(0s, 10s), 1.10);
  EXPECT_LE(arrived.PerCall(5s, 10s), 1.02);
}

// After the first `calm` attempts it fails a share of them, spread evenly.
FaultyService::Script FailsShare(double share, int calm) {
  return [share, calm](const SeenCall& call) {
    if (call.number <= calm) return Answer();
    const uint32_t spread = static_cast<uint32_t>(call.number) * 2654435769u;
    return spread < share * 4294967296.0 ? Fails(StatusCode::UNAVAILABLE) : Answer();
  };
}

TEST(StormSoak, S4_SingleFailuresAreRescued) {
  struct Case {
    double failing;
    double rescued;
  };
  for (const Case& c : {Case{0.01, 0.999}, Case{0.05, 0.99}, Case{0.10, 0.94}}) {
    constexpr int kCalmCalls = 1000;
    constexpr int kCalls = 2000;
    FaultyService service(FailsShare(c.failing, kCalmCalls));
    SidecarProcess sidecar({.endpoints = {service.address()}}, {"--workers", "2"});
    const std::vector<ChannelPtr> channels = {NewChannel(sidecar.address()),
                                              NewChannel(sidecar.address())};
    RunLoad(channels, {.calls = kCalmCalls});
    auto codes = RunLoad(channels, {.calls = kCalls});
    const int lost = kCalls - codes[StatusCode::OK];
    std::cout << c.failing << " failing: " << lost << " lost\n";
    EXPECT_LE(lost, (1 - c.rescued) * c.failing * kCalls + 0.5) << c.failing;
    EXPECT_GE(service.calls() - kCalmCalls, kCalls * (1 + c.failing * 0.8));
  }
}

// One of three endpoints answers so, to a caller that makes one call after the other.
void ExpectRescued(const Answer& bad, const ConfigParts& parts) {
  FaultyService first([&](const SeenCall&) { return bad; }), second, third;
  ConfigParts all = parts;
  all.endpoints = {first.address(), second.address(), third.address()};
  SidecarProcess sidecar(all);
  const ChannelPtr channel = NewChannel(sidecar.address());
  constexpr int kCalls = 300;
  // One by one, so that no stall of this machine makes them come all at once.
  auto codes = RunLoad({channel}, {.calls = kCalls, .at_once = 1, .deadline = 5s});
  EXPECT_EQ(codes[StatusCode::OK], kCalls);
  // Few calls find out that it is bad, and they alone are sent again.
  EXPECT_GE(first.calls(), 1);
  EXPECT_LE(first.calls(), 0.1 * kCalls);
  EXPECT_LE(first.calls() + second.calls() + third.calls(), 1.1 * kCalls);
}

TEST(StormSoak, S4_OneOfThreeEndpointsThatFailsFastLosesNoCall) {
  ExpectRescued(Fails(StatusCode::UNAVAILABLE), {});
}

TEST(StormSoak, S4_ABlackHoleAmongThreeEndpointsLosesNoCall) {
  ExpectRescued({.delay = 1h},
                {.retry = "{attempt_timeout: 250ms, failures: [refused, connect, timeout]}"});
}

TEST(StormSoak, S4_OneOfThreeEndpointsThatIsSlowLosesNoCall) {
  ExpectRescued({.delay = 300ms}, {});
}

// A service with 40 slots and 100 ms of work for each call: 400 calls a second. It works on calls
// whose callers have gone. It loses half of its slots for a while.
class BusyService {
 public:
  const std::string& address() const { return service_.address(); }

  // Calls `per_second` times a second, without retries of the caller's, while the slots are lost
  // `fault` after kCalm. Returns how long after that the first second begins in which nearly all
  // calls are good; kLongerThanAnyTest if that takes longer than kWatched.
  milliseconds Recovery(const std::string& address, int per_second, milliseconds fault,
                        milliseconds deadline) {
    std::vector<Ended> ended;
    const auto begin = steady_clock::now();
    const auto length = (kCalm + fault + kWatched) / 1s;
    std::thread switching([&] { SwitchFault(fault); });
    RunLoad({NewChannel(address), NewChannel(address)},
            {.calls = static_cast<int>(length) * per_second,
             .per_second = static_cast<double>(per_second),
             .deadline = deadline,
             .method = "/levee.demo.v1.Shop/GetPrice",
             .body = "",
             .on_end = [&](const Load::Ended& call) {
               ended.push_back({call.begun - begin, call.code == StatusCode::OK});
             }});
    switching.join();
    for (milliseconds at = kCalm + fault; at <= kCalm + fault + kWatched - 1s; at += 100ms) {
      if (GoodShare(ended, at, at + 1s) >= 0.97) return at - kCalm - fault;
    }
    return kLongerThanAnyTest;
  }
  static constexpr milliseconds kLongerThanAnyTest = 1h;

 private:
  static constexpr milliseconds kCalm = 2s;
  static constexpr milliseconds kWatched = 12s;  // after the fault

  struct Ended {
    steady_clock::duration begun;
    bool good;
  };

  static double GoodShare(const std::vector<Ended>& ended, milliseconds from, milliseconds to) {
    double calls = 0, good = 0;
    for (const Ended& each : ended) {
      if (each.begun < from || each.begun >= to) continue;
      ++calls;
      if (each.good) ++good;
    }
    return calls == 0 ? 0 : good / calls;
  }

  void SwitchFault(milliseconds fault) {
    PassRealTime(kCalm);
    faults_.Set({.workers_down = 0.5});
    PassRealTime(fault);
    faults_.Set({});
  }

  demo::DemoService service_{{.workers = 40,
                              .work = absl::Milliseconds(100),
                              .time_limit = absl::InfiniteDuration(),
                              .line = 1'000'000},
                             /*seed=*/1};
  demo::FaultSwitch faults_{service_.address()};
};

TEST(Throttle, S9_RejectsCallsForWhichAnOverloadedServiceHasNoRoom) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .policy = ", throttle: {mode: enforce, window: 1h, on: [unavailable]}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto rejected = [&] {
    return sidecar.Sum("levee_throttle_decisions_total", {R"(decision="rejected")"});
  };
  int calls = 0;
  EXPECT_TRUE(Eventually([&] {
    EXPECT_FALSE(CallUnary(channel).status.ok());
    ++calls;
    return rejected() >= 1;
  }));
  EXPECT_GE(service.calls(), calls - rejected());
}

ConfigParts TimeoutsRetried(const BusyService& service, const std::string& more) {
  return {.endpoints = {service.address()},
          .retry = "{attempt_timeout: 250ms, failures: [refused, connect, timeout]}",
          .policy = more};
}

TEST(StormSoak, S8_ABusyServiceWhoseTimeoutsAreRetriedRecoversNearlyAsSoonAsWithoutRetries) {
  BusyService retried, plain;
  SidecarProcess sidecar(TimeoutsRetried(retried, ""));
  milliseconds without{};
  std::thread direct([&] { without = plain.Recovery(plain.address(), 340, 1s, 250ms); });
  const milliseconds with = retried.Recovery(sidecar.address(), 340, 1s, 1s);
  direct.join();
  std::cout << "back after " << with / 1ms << " ms, without " << without / 1ms << " ms\n";
  EXPECT_LE(with, 1.25 * without + 1s);
  EXPECT_LT(with, BusyService::kLongerThanAnyTest);
}

TEST(StormSoak, S9_AThrottleBringsAnOverloadedServiceBackSoonerThanNoRetriesDo) {
  BusyService throttled, plain;
  SidecarProcess sidecar(TimeoutsRetried(throttled, ", throttle: {mode: enforce}"));
  milliseconds without{};
  std::thread direct([&] { without = plain.Recovery(plain.address(), 320, 5s, 250ms); });
  const milliseconds with = throttled.Recovery(sidecar.address(), 320, 5s, 1s);
  direct.join();
  std::cout << "back after " << with / 1ms << " ms, without " << without / 1ms << " ms\n";
  EXPECT_LE(with, 0.8 * without);
  EXPECT_GE(sidecar.Sum("levee_throttle_decisions_total", {R"(decision="rejected")"}), 1);
}

}  // namespace
}  // namespace levee
