// SPDX-License-Identifier: Apache-2.0
// Retry storms, second by second: fleets of sidecars before one service that fails, under the
// policy that a user gets without a file. S1 to S4 and S11 are rows of the contract on storms.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "call/call_fixture.h"
#include "call/saturation.h"
#include "call/storm_figures.h"
#include "sim/workload.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr int kLength = 20;  // of the fault, in seconds

struct FleetFault {
  double failing = 1;  // share of attempts, independently
  int begin = 2;       // second of the run
  double length = kLength;
  int after = 1;  // seconds that the run goes on

  bool During(absl::Duration at) const {
    return at >= absl::Seconds(begin) && at < absl::Seconds(begin + length);
  }
};

// Many sidecars, each with a load of its own.
struct Fleet {
  int sidecars = 1;
  std::function<double(int sidecar)> per_second;
  bool poisson = true;
  CallPolicy policy = {};
};

Fleet Sidecars(int n, double per_second) {
  return {.sidecars = n, .per_second = [per_second](int) { return per_second; }};
}

// Calls begun, and attempts that arrived, in each second of the run.
class Seconds {
 public:
  explicit Seconds(int begin) : begin_(begin) {}

  void AddCall(absl::Duration at) { ++At(calls_, at); }
  void AddAttempt(absl::Duration at) { ++At(attempts_, at); }

  // Attempts per call in the seconds [from, to) of the fault.
  double PerCall(int from, int to) const {
    return Sum(attempts_, from, to) / Sum(calls_, from, to);
  }
  double Worst(int seconds) const {
    double worst = 0;
    for (int second = 0; second < seconds; ++second) {
      worst = std::max(worst, PerCall(second, second + 1));
    }
    return worst;
  }

 private:
  static double& At(std::vector<double>& counts, absl::Duration at) {
    const auto second = static_cast<size_t>(absl::ToInt64Seconds(at));
    if (second >= counts.size()) counts.resize(second + 1);
    return counts[second];
  }
  double Sum(const std::vector<double>& counts, int from, int to) const {
    return std::accumulate(counts.begin() + begin_ + from, counts.begin() + begin_ + to, 0.0);
  }

  int begin_;  // of the fault
  std::vector<double> calls_;
  std::vector<double> attempts_;
};

struct FleetRun {
  Seconds seconds;
  Tally tally = {};
  int sidecars_hit = 0;     // whose first attempts met the fault
  int first_in_vain = 0;    // first retries that did, and failed
  int further_in_vain = 0;  // later retries of a call, likewise
};

FleetRun RunFleet(const Fleet& fleet, const FleetFault& fault, uint64_t seed) {
  FleetRun run{.seconds = Seconds(fault.begin)};
  SimClock clock;
  Random random(seed);
  std::deque<SimSidecar> sidecars;
  const Answer fails = TrailersOnly(StatusCode::kUnavailable);
  const Answer ok = Ok();
  const absl::Duration end = absl::Seconds(fault.begin + fault.length + fault.after);
  for (int i = 0; i < fleet.sidecars; ++i) {
    const double per_second = fleet.per_second(i);
    SimSidecar& sidecar = sidecars.emplace_back(clock, fleet.policy, seed * 100'000 + i);
    sidecar.AddEndpoint([&, hit = false](SimHost&, AttemptId attempt) mutable {
      const absl::Duration now = clock.elapsed();
      run.seconds.AddAttempt(now);
      if (!fault.During(now) || random.Uniform() >= fault.failing) return ok;
      if (!std::exchange(hit, true)) ++run.sidecars_hit;
      if (attempt > 1) ++(attempt == 2 ? run.first_in_vain : run.further_in_vain);
      return fails;
    });
    // Each begins somewhere within its first gap, so that they do not call in step.
    clock.After(absl::Seconds(random.Uniform() / per_second), [&, per_second, i] {
      BeginWorkload(sidecar, {.per_second = per_second,
                              .calls = kAnyNumberOfCalls,
                              .length = end - clock.elapsed(),
                              .poisson_seed = fleet.poisson ? seed * 100'000 + i + 1 : 0,
                              .facts = [&](int64_t) {
                                run.seconds.AddCall(clock.elapsed());
                                return RequestFacts{.timeout = absl::Seconds(5)};
                              }});
    });
  }
  clock.Run();
  for (const SimSidecar& sidecar : sidecars) {
    run.tally.first_failed += sidecar.tally().first_failed;
    run.tally.rescued += sidecar.tally().rescued;
  }
  return run;
}

// A figure of every run, in order; prints them.
std::vector<double> FleetFigures(std::string_view what, const std::vector<FleetRun>& runs,
                                 const std::function<double(const FleetRun&)>& figure) {
  std::vector<double> figures;
  for (const FleetRun& run : runs) figures.push_back(figure(run));
  return Distribution(what, std::move(figures));
}

// The runs of all seeds, whose worst seconds it prints.
std::vector<FleetRun> FleetOverSeeds(std::string_view what, uint64_t seeds, const Fleet& fleet,
                                     const FleetFault& fault) {
  std::vector<FleetRun> runs;
  for (uint64_t seed = 1; seed <= seeds; ++seed) runs.push_back(RunFleet(fleet, fault, seed));
  std::cout << what << '\n';
  const int seconds = static_cast<int>(std::ceil(fault.length));
  FleetFigures("  worst second", runs,
               [&](const FleetRun& run) { return run.seconds.Worst(seconds); });
  return runs;
}

double FirstSecond(const FleetRun& run) { return run.seconds.PerCall(0, 1); }
double WholeFault(const FleetRun& run) { return run.seconds.PerCall(0, kLength); }
double SecondHalf(const FleetRun& run) { return run.seconds.PerCall(kLength / 2, kLength); }

TEST(CallStormMoment, S1_TheFirstSecondOfAnOutageCostsAtMost15PercentAndTheThirdTwo) {
  const FleetFault outage{.length = 5};
  const Fleet even{.per_second = [](int) { return 100.0; }, .poisson = false};
  const auto later = [](const FleetRun& run) {
    return std::max(
        {run.seconds.PerCall(2, 3), run.seconds.PerCall(3, 4), run.seconds.PerCall(4, 5)});
  };
  const auto runs = FleetOverSeeds("outage, 100/s", StormSeeds(1000), even, outage);
  EXPECT_LE(FleetFigures("  first second", runs, FirstSecond).back(), 1.15);
  EXPECT_LE(FleetFigures("  later seconds", runs, later).back(), 1.02);
  // Random gaps alone make one second's calls differ by a tenth from those of the second before.
  const auto random =
      FleetOverSeeds("outage, 100/s at random", StormSeeds(100), Sidecars(1, 100), outage);
  EXPECT_LE(Mean(FleetFigures("  first second", random, FirstSecond)), 1.12);
}

TEST(CallStormMoment, S2_QuietSidecarsSendTenPercentMoreAndTwoInTheSecondHalf) {
  const auto runs = FleetOverSeeds("outage, 30 x 1.3/s", StormSeeds(1000), Sidecars(30, 1.3), {});
  EXPECT_LE(FleetFigures("  fault", runs, WholeFault).back(), 1.10);
  EXPECT_LE(FleetFigures("  second half", runs, SecondHalf).back(), 1.02);
}

TEST(CallStormMoment, S3_AHalfAndAMostlyFailingServiceSeeLittleMore) {
  const FleetFault half{.failing = 0.5};
  const FleetFault most{.failing = 0.8};
  const Fleet busy = Sidecars(1, 100);
  const Fleet quiet = Sidecars(30, 1.3);
  const auto whole = [](std::string_view what, uint64_t seeds, const Fleet& fleet,
                        const FleetFault& fault) {
    return FleetFigures("  fault", FleetOverSeeds(what, seeds, fleet, fault), WholeFault);
  };
  EXPECT_LE(whole("50%, 100/s", StormSeeds(100), busy, half).back(), 1.12);
  EXPECT_LE(whole("80%, 100/s", StormSeeds(100), busy, most).back(), 1.06);
  // Which of 780 calls fail is a matter of luck, so a single run may end a little higher.
  EXPECT_LE(Mean(whole("50%, 30 x 1.3/s", StormSeeds(1000), quiet, half)), 1.20);
  EXPECT_LE(Mean(whole("80%, 30 x 1.3/s", StormSeeds(1000), quiet, most)), 1.12);
}

TEST(CallStormMoment, S4_SingleFailuresAreRescued) {
  struct Case {
    double failing;
    double rescued;
  };
  // At 10% a service that is asked for 1.1 attempts per call has 0.1 retries for each failure, nine
  // of ten of which succeed.
  for (const Case& c : {Case{0.01, 0.999}, Case{0.05, 0.99}, Case{0.10, 0.90}}) {
    Tally sum;
    for (uint64_t seed = 1; seed <= StormSeeds(10); ++seed) {
      const FleetRun run = RunFleet(Sidecars(1, 600), {.failing = c.failing, .begin = 12}, seed);
      sum.first_failed += run.tally.first_failed;
      sum.rescued += run.tally.rescued;
    }
    std::cout << c.failing << " failing: " << sum.RescuedShare() << " rescued\n";
    EXPECT_GE(sum.RescuedShare(), c.rescued) << c.failing;
  }
}

// One endpoint of three answers so. At most one call in a hundred is lost.
void ExpectRescued(const CallPolicy& policy, const Answer& bad) {
  for (const double per_second : {1.0, 100.0}) {
    Tally sum;
    for (uint64_t seed = 1; seed <= StormSeeds(50); ++seed) {
      SimClock clock;
      SimSidecar sidecar(clock, policy, seed);
      sidecar.AddEndpoint(InTurn({bad}));
      sidecar.AddEndpoint(InTurn({Ok()}));
      sidecar.AddEndpoint(InTurn({Ok()}));
      RunWorkload(sidecar, {.per_second = per_second, .calls = 600, .poisson_seed = seed});
      sum.calls += sidecar.tally().calls;
      sum.ok += sidecar.tally().ok;
    }
    std::cout << per_second << "/s: " << sum.ok << " of " << sum.calls << " good\n";
    EXPECT_GE(static_cast<double>(sum.ok), 0.99 * static_cast<double>(sum.calls))
        << per_second << " calls/s";
  }
}

TEST(CallStormMoment, S4_OneBadEndpointOfThreeLosesAtMostOneCallInAHundredAlsoAtOneCallASecond) {
  ExpectRescued(CallPolicy(), TrailersOnly(StatusCode::kUnavailable));
}

TEST(CallStormMoment, S4_ABlackHoleAmongThreeEndpointsLosesAtMostOneCallInAHundred) {
  ExpectRescued(TimeoutsRetried(), Silence());
}

TEST(CallStormMoment, S5_AShortTotalFailureBecomesAnErrorForFewCalls) {
  struct Case {
    Fleet fleet;
    uint64_t seeds;
    double rescued;
    double attempts_of_1s;
  };
  // In a second without successes a fifth of the calls of five seconds fails, and needs a retry.
  // What quiet sidecars send above that is the first retry of each, which goes at once, and no
  // other: to hold it back, too, would delay by a second the rescue of every single failure of a
  // quiet upstream. Who wants the bound all the same lets the first retry wait.
  Fleet patient = Sidecars(30, 1.3);
  patient.policy.retry.backoff.kind = BackoffPolicy::Kind::kSchedule;
  patient.policy.retry.backoff.schedule = {absl::Milliseconds(750), absl::Milliseconds(50)};
  for (const Case& c : {Case{Sidecars(1, 600), StormSeeds(20), 0.95, 1.25},
                        Case{Sidecars(30, 1.3), StormSeeds(100), 0.85, 1.32},
                        Case{patient, StormSeeds(100), 0.85, 1.25}}) {
    for (const double seconds : {0.1, 0.3, 1.0}) {
      const FleetFault failure{.begin = 12, .length = seconds, .after = 6};
      Tally sum;
      int hit = 0, first_in_vain = 0, further_in_vain = 0;
      const std::string what =
          absl::StrCat("sidecars: ", c.fleet.sidecars, ", nothing for ", seconds, " s");
      const auto runs = FleetOverSeeds(what, c.seeds, c.fleet, failure);
      for (const FleetRun& run : runs) {
        sum.first_failed += run.tally.first_failed;
        sum.rescued += run.tally.rescued;
        hit += run.sidecars_hit;
        first_in_vain += run.first_in_vain;
        further_in_vain += run.further_in_vain;
      }
      std::cout << "  rescued: " << sum.RescuedShare() << "\n  of " << sum.first_failed
                << " calls in " << hit << " sidecars in vain: " << first_in_vain
                << " first retries, " << further_in_vain << " further ones\n";
      EXPECT_GE(sum.RescuedShare(), c.rescued) << seconds;
      if (c.fleet.sidecars > 1) {
        EXPECT_LE(first_in_vain + further_in_vain, hit) << seconds;
      }
      const auto attempts = [](const FleetRun& run) { return run.seconds.PerCall(0, 5); };
      EXPECT_LE(Mean(FleetFigures("  over 5 s", runs, attempts)),
                seconds < 1 ? 1.25 : c.attempts_of_1s);
    }
  }
}

TEST(CallStormMoment, S11_AFleetOfUnequalSidecarsStaysWithinTenPercentAndNoSecondIsBad) {
  // 0.01 to 100 calls a second, evenly by order of magnitude. Sidecars have nothing in common, so
  // the runs of ten seeds are those of a fleet of 10,000.
  const Fleet fleet{.sidecars = 1000, .per_second = [](int sidecar) {
                      return std::pow(10.0, -2 + 4.0 * (sidecar + 0.5) / 1000);
                    }};
  const auto runs = FleetOverSeeds("outage, 1000 unequal sidecars", StormSeeds(3), fleet, {});
  EXPECT_LE(FleetFigures("  fault", runs, WholeFault).back(), 1.10);
  for (const FleetRun& run : runs) EXPECT_LE(run.seconds.Worst(kLength), 1.6);
}

}  // namespace
}  // namespace levee
