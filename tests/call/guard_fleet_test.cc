// SPDX-License-Identifier: Apache-2.0
// Many instances of a service, each behind its guard, and callers that have sidecars: case G9.
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <string_view>
#include <utility>

#include "call/call_fixture.h"
#include "call/over_seeds.h"
#include "sim/loaded_service.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr int kInstances = 10;
constexpr int kCallers = 4;  // sidecars

// The load on instances of 2 slots and 10 ms a call.
struct FleetLoad {
  double seconds = 10;
  double load = 0.5;  // of the callers together, as a share of what the instances can do
  // A load on the first instance alone, of callers without a sidecar, as a share of what it can do.
  double first_alone = 0;
};

// What becomes of the callers' calls, and of probes: calls of other callers without a sidecar,
// which show what an instance says when it refuses.
class GuardFleetRun {
 public:
  GuardFleetRun(const FleetLoad& load, uint64_t seed) : load_(load), random_(seed) {
    CallPolicy inbound;
    inbound.retry.max_attempts = 1;
    inbound.throttle.reset();
    inbound.guard = GuardPolicy();
    for (int i = 0; i < kCallers; ++i) callers_.emplace_back(clock_, CallPolicy(), seed * 100 + i);
    for (int i = 0; i < kInstances; ++i) {
      LoadedService& service =
          services_.emplace_back(clock_, WorkKind::kExponential, kSlots, seed * 100 + i + 10);
      SimSidecar& guard = guards_.emplace_back(clock_, inbound, seed * 100 + i + 50);
      guard.inbound = true;
      guard.AddEndpoint(service.Method(kWork));
      for (SimSidecar& caller : callers_) caller.AddEndpoint(Behind(guard, caller));
    }
    Repeat(kPerSecond * kInstances * load.load, [this] { Call(); });
    if (load.first_alone > 0) {
      Repeat(kPerSecond * load.first_alone, [this] { Enter(guards_.front(), nullptr); });
    }
    Repeat(kPerSecond / 20, [this] { Probe(); });
    clock_.RunFor(absl::Seconds(load.seconds + 2));
  }

  double GoodShare() const { return static_cast<double>(good_) / static_cast<double>(calls_); }
  double AttemptsPerCall() const {
    int64_t attempts = 0;
    for (const SimSidecar& caller : callers_) attempts += caller.tally().attempts;
    return static_cast<double>(attempts) / static_cast<double>(calls_);
  }
  // The probes that were refused for the instance, and those for the whole service.
  int for_endpoint() const { return for_endpoint_; }
  int for_service() const { return for_service_; }
  // When a probe was last refused for its instance, in seconds.
  double last_for_endpoint() const { return last_for_endpoint_; }

 private:
  static constexpr int kSlots = 2;
  static constexpr absl::Duration kWork = Ms(10);
  static constexpr double kPerSecond = 200;  // calls that an instance can serve

  // Has `act` done at random times, while the run lasts.
  void Repeat(double per_second, std::function<void()> act) {
    const absl::Duration gap = absl::Seconds(-std::log1p(-random_.Uniform()) / per_second);
    if (clock_.elapsed() + gap > absl::Seconds(load_.seconds)) return;
    clock_.After(gap, [this, per_second, act = std::move(act)] {
      act();
      Repeat(per_second, act);
    });
  }

  void Call() {
    ++calls_;
    SimSidecar& caller = callers_[static_cast<size_t>(random_.Uniform() * kCallers)];
    const auto count = [this](const SimCaller& end) { good_ += end.code == StatusCode::kOk; };
    caller.NewCall({.timeout = absl::Seconds(1)}, count).HalfClose();
  }

  static void Enter(SimSidecar& guard, SimHost::OnFinish on_finish) {
    const RequestFacts facts{.timeout = absl::Seconds(1),
                             .priority = GuardPolicy().default_priority};
    guard.NewCall(facts, std::move(on_finish)).HalfClose();
  }

  // To the first instance, if that one alone is overloaded.
  void Probe() {
    const double which = load_.first_alone > 0 ? 0 : random_.Uniform() * kInstances;
    Enter(guards_[static_cast<size_t>(which)], [this](const SimCaller& end) {
      const std::string_view mark = end.trailers.Get("levee-overload");
      for_service_ += mark.starts_with("service");
      if (!mark.starts_with("endpoint")) return;
      ++for_endpoint_;
      last_for_endpoint_ = absl::ToDoubleSeconds(clock_.elapsed());
    });
  }

  const FleetLoad load_;
  SimClock clock_;
  Random random_;
  std::deque<LoadedService> services_;
  std::deque<SimSidecar> guards_;
  std::deque<SimSidecar> callers_;
  int64_t calls_ = 0;
  int64_t good_ = 0;
  int for_endpoint_ = 0;
  int for_service_ = 0;
  double last_for_endpoint_ = 0;
};

void Tell(std::string_view what, const OverSeeds& figure) {
  std::cout << what << ": " << figure << "\n";
}

TEST(CallGuardFleet, G9_CallersOfAnOverloadedInstanceSucceedElsewhere) {
  OverSeeds good, for_endpoint, for_service;
  for (uint64_t seed = 1; seed <= StormSeeds(20); ++seed) {
    const GuardFleetRun run({.seconds = 4, .first_alone = 3}, seed);
    good.Add(seed, run.GoodShare());
    for_endpoint.Add(seed, run.for_endpoint());
    for_service.Add(seed, run.for_service());
  }
  Tell("good", good);
  Tell("probes refused for the instance", for_endpoint);
  EXPECT_GE(good.Least(), 0.995) << good;
  EXPECT_GE(for_endpoint.Least(), 1) << for_endpoint;
  EXPECT_EQ(for_service.Most(), 0) << for_service;
}

TEST(CallGuardFleet, G9_WhereAllInstancesAreOverloadedRetriesEndWithinTwoSeconds) {
  OverSeeds attempts, endpoint_until, for_service;
  // A run costs as much as ten with one instance.
  for (uint64_t seed = 1; seed <= StormSeeds(20) / 10; ++seed) {
    const GuardFleetRun run({.seconds = 8, .load = 3}, seed);
    attempts.Add(seed, run.AttemptsPerCall());
    endpoint_until.Add(seed, run.last_for_endpoint());
    for_service.Add(seed, run.for_service());
  }
  Tell("attempts per call", attempts);
  Tell("last refusal for an instance", endpoint_until);
  Tell("probes refused for the service", for_service);
  EXPECT_LE(attempts.Most(), 1.02) << attempts;
  EXPECT_LE(endpoint_until.Most(), 2) << endpoint_until;
  EXPECT_GE(for_service.Least(), 1) << for_service;
}

}  // namespace
}  // namespace levee
