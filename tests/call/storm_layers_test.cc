// SPDX-License-Identifier: Apache-2.0
// Storms through layers: services in a row, each calling the next through its own sidecar, and a
// bottom that fails. S10 and S12 are rows of the contract on storms.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call/call_fixture.h"
#include "call/storm_figures.h"
#include "sim/app_loop.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr int kBegin = 2;          // second of the run in which the fault begins
constexpr int kFaultSeconds = 20;  // of the fault, in seconds

struct LayeredStorm {
  int layers = 1;
  double per_second = 20;  // requests at the top
  double failing = 1;      // share of the attempts at the bottom, independently
  AppLoop loop;            // of the application above each sidecar
  bool passes_trailers = true;
  bool evenly = false;               // the requests come; else at random
  bool guarded = false;              // each layer has a guard before its application
  bool refuses_connections = false;  // what fails at the bottom, in place of UNAVAILABLE
};

// One run, with the requests and the arrivals at the bottom of each second.
class StormRun {
 public:
  StormRun(const LayeredStorm& storm, uint64_t seed)
      : storm_(storm), random_(seed), requests_(kSeconds), arrivals_(kSeconds) {
    const Handler handler{.passes_trailers = storm.passes_trailers, .loop = storm.loop};
    for (int i = 0; i < storm.layers; ++i) {
      SimSidecar& sidecar = sidecars_.emplace_back(clock_, CallPolicy(), seed * 100 + i);
      const Service service = i == 0 ? [this](SimHost&, AttemptId) { return Arrive(); }
                                     : Through(sidecars_[i - 1], handler);
      sidecar.AddEndpoint(storm.guarded ? Guarded(service, sidecar, seed * 100 + 50 + i) : service);
    }
    top().answers_are_read = false;
    clock_.After(absl::Seconds(random_.Uniform() / storm.per_second), [this] { Request(); });
  }

  // Before Run: besides, a request comes every `every` that is sent once. `own_traces`: each has a
  // trace of its own; else none has one, and they come on one connection.
  void AddPoller(absl::Duration every, bool own_traces) {
    top().answers_are_read = true;
    clock_.After(every, [this, every, own_traces] { Poll(every, own_traces); });
  }

  void Run() { clock_.Run(); }

  // Arrivals at the bottom per request at the top in the seconds [from, to) of the fault.
  double PerRequest(int from, int to) const {
    const auto sum = [&](const std::vector<double>& counts) {
      return std::accumulate(counts.begin() + kBegin + from, counts.begin() + kBegin + to, 0.0);
    };
    return sum(arrivals_) / sum(requests_);
  }
  double Fault() const { return PerRequest(0, kFaultSeconds); }
  double WorstAfterTheFirst() const {
    double worst = 0;
    for (int second = 1; second < kFaultSeconds; ++second) {
      worst = std::max(worst, PerRequest(second, second + 1));
    }
    return worst;
  }

  int polls() const { return polls_; }
  int polls_refused() const { return polls_refused_; }

 private:
  static constexpr int kSeconds = kBegin + kFaultSeconds + 8;
  static constexpr absl::Duration kTimeout = absl::Seconds(5);

  SimSidecar& top() { return sidecars_.back(); }

  // The application `service` behind a guard of its own, which `caller` calls.
  Service Guarded(const Service& service, SimSidecar& caller, uint64_t seed) {
    CallPolicy policy;
    policy.retry.max_attempts = 1;
    policy.guard = GuardPolicy();
    SimSidecar& guard = guards_.emplace_back(clock_, policy, seed);
    guard.inbound = true;
    guard.AddEndpoint(service);
    return Behind(guard, caller);
  }

  double& Now(std::vector<double>& counts) {
    return counts.at(static_cast<size_t>(absl::ToInt64Seconds(clock_.elapsed())));
  }

  bool Over() const { return clock_.elapsed() >= absl::Seconds(kBegin + kFaultSeconds + 1); }

  Answer Arrive() {
    ++Now(arrivals_);
    const absl::Duration at = clock_.elapsed() - absl::Seconds(kBegin);
    const bool fault = at >= absl::ZeroDuration() && at < absl::Seconds(kFaultSeconds);
    if (!fault || random_.Uniform() >= storm_.failing) return ok_;
    return storm_.refuses_connections ? refused_ : fails_;
  }

  void Request() {
    if (Over()) return;
    ++Now(requests_);
    AppRequest::Begin(top(), storm_.loop, kTimeout, {.trace = ++traces_}, kMessage, nullptr);
    const double gap = storm_.evenly ? 1 : -std::log1p(-random_.Uniform());
    clock_.After(absl::Seconds(gap / storm_.per_second), [this] { Request(); });
  }

  void Poll(absl::Duration every, bool own_traces) {
    if (Over()) return;
    ++Now(requests_);
    ++polls_;
    const SimOrigin origin =
        own_traces ? SimOrigin{.trace = ++traces_} : SimOrigin{.connection = 1};
    AppRequest::Begin(top(), AppLoop(), kTimeout, origin, kMessage, [this](const SimCaller& end) {
      polls_refused_ += end.message.find("application's own retry") != std::string::npos;
    });
    clock_.After(every, [this, every, own_traces] { Poll(every, own_traces); });
  }

  inline static const std::string kMessage{"\0\0\0\0\4ping", 9};

  const Answer fails_ = TrailersOnly(StatusCode::kUnavailable);
  const Answer refused_ = Answer().CannotConnect(Ms(0));
  const Answer ok_ = Ok();
  const LayeredStorm storm_;
  SimClock clock_;
  Random random_;
  std::deque<SimSidecar> sidecars_;  // the one above the bottom first
  std::deque<SimSidecar> guards_;
  std::vector<double> requests_;
  std::vector<double> arrivals_;
  uint64_t traces_ = 0;
  int polls_ = 0;
  int polls_refused_ = 0;
};

// Prints a figure of all seeds, and returns them in order.
std::vector<double> FigureOverSeeds(std::string_view what, uint64_t seeds,
                                    const LayeredStorm& storm, double (StormRun::*figure)() const) {
  std::vector<double> figures;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    StormRun run(storm, seed);
    run.Run();
    figures.push_back((run.*figure)());
  }
  return Distribution(what, std::move(figures));
}

double WorstOverSeeds(std::string_view what, uint64_t seeds, const LayeredStorm& storm,
                      double (StormRun::*figure)() const) {
  return FigureOverSeeds(what, seeds, storm, figure).back();
}

const AppLoop kThreeAttempts{.attempts = 3};

TEST(CallStormLayers, S12_ALoopOfThreeAttemptsCostsAtMost15Percent) {
  const LayeredStorm slow{.per_second = 10, .loop = kThreeAttempts};
  const LayeredStorm fast{.per_second = 100, .loop = kThreeAttempts};
  EXPECT_LE(WorstOverSeeds("one layer, 10/s", StormSeeds(1000), slow, &StormRun::Fault), 1.15);
  EXPECT_LE(WorstOverSeeds("one layer, 100/s", StormSeeds(20), fast, &StormRun::Fault), 1.15);
  for (const int backoff_ms : {1, 300, 1000}) {
    LayeredStorm other = slow;
    other.loop.backoff = Ms(backoff_ms);
    std::cout << backoff_ms << " ms between attempts; ";
    EXPECT_LE(WorstOverSeeds("one layer, 10/s", StormSeeds(20), other, &StormRun::Fault), 1.15);
  }
}

TEST(CallStormLayers, S12_ThreeLayersOfLoopsCostAtMost40Percent) {
  for (const bool passes_trailers : {true, false}) {
    LayeredStorm slow{
        .layers = 3, .per_second = 10, .loop = kThreeAttempts, .passes_trailers = passes_trailers};
    LayeredStorm fast = slow;
    fast.per_second = 100;
    std::cout << (passes_trailers ? "trailers passed on\n" : "trailers dropped\n");
    EXPECT_LE(WorstOverSeeds("three layers, 10/s", StormSeeds(100), slow, &StormRun::Fault), 1.4);
    EXPECT_LE(WorstOverSeeds("three layers, 100/s", StormSeeds(10), fast, &StormRun::Fault), 1.4);
    slow.refuses_connections = true;
    EXPECT_LE(WorstOverSeeds("refuses connections, 10/s", StormSeeds(20), slow, &StormRun::Fault),
              1.4);
  }
}

// Neither while half of the attempts fail nor while all do.
TEST(CallStormLayers, S12_NoPollerIsRefused) {
  for (const double failing : {1.0, 0.5}) {
    for (uint64_t seed = 1; seed <= StormSeeds(50); ++seed) {
      StormRun run({.failing = failing, .loop = kThreeAttempts}, seed);
      run.AddPoller(absl::Seconds(1), /*own_traces=*/false);
      run.AddPoller(absl::Milliseconds(100), /*own_traces=*/true);
      run.Run();
      EXPECT_GE(run.polls(), 220);
      EXPECT_EQ(run.polls_refused(), 0) << failing << ", seed " << seed;
    }
  }
}

TEST(CallStormLayers, S10_ADeadBottomSeesTenPercentMoreInEverySecondAfterTheFirst) {
  for (const bool passes_trailers : {true, false}) {
    LayeredStorm dead{
        .layers = 3, .per_second = 100, .passes_trailers = passes_trailers, .evenly = true};
    std::cout << (passes_trailers ? "marks honoured\n" : "marks dropped\n");
    EXPECT_LE(WorstOverSeeds("dead", StormSeeds(20), dead, &StormRun::WorstAfterTheFirst), 1.1);
    // UNAVAILABLE is retried by the layers above, if the application drops the mark.
    dead.refuses_connections = true;
    EXPECT_LE(
        WorstOverSeeds("refuses connections", StormSeeds(20), dead, &StormRun::WorstAfterTheFirst),
        1.1);
  }
}

TEST(CallStormLayers, G11_SoItDoesWithAGuardInEachLayer) {
  for (const bool passes_trailers : {true, false}) {
    const LayeredStorm dead{.layers = 3,
                            .per_second = 100,
                            .passes_trailers = passes_trailers,
                            .evenly = true,
                            .guarded = true};
    std::cout << (passes_trailers ? "marks honoured\n" : "marks dropped\n");
    EXPECT_LE(WorstOverSeeds("dead", StormSeeds(20), dead, &StormRun::WorstAfterTheFirst), 1.1);
  }
}

// Until three of the first retries have failed, those that work are free. Hence in few runs many of
// them, by luck, are left for the second second.
TEST(CallStormLayers, S10_SoDoesAHalfDeadBottomInNinetyNineOfAHundredRuns) {
  for (const bool passes_trailers : {true, false}) {
    const LayeredStorm half{.layers = 3,
                            .per_second = 100,
                            .failing = 0.5,
                            .passes_trailers = passes_trailers,
                            .evenly = true};
    std::cout << (passes_trailers ? "marks honoured\n" : "marks dropped\n");
    const std::vector<double> worst =
        FigureOverSeeds("half dead", StormSeeds(20), half, &StormRun::WorstAfterTheFirst);
    EXPECT_LE(worst[(worst.size() - 1) * 99 / 100], 1.1);
    EXPECT_LE(worst.back(), 1.3);
  }
}

}  // namespace
}  // namespace levee
