// SPDX-License-Identifier: Apache-2.0
// A nearly saturated service: retries of timeouts must not keep it down, and a throttle brings it
// back. S8 and S9 are rows of the contract on storms; docs/decisions/saturation.md has the figures.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "call/saturation.h"
#include "call/storm_figures.h"
#include "sim/workload.h"
#include "storms/seeds.h"

namespace levee {
namespace {

struct Cut {
  std::string name;
  double left;
  double seconds;
};

void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name; }

Saturation Of(const Cut& cut, double load, int sidecars = 1) {
  return {.load = load,
          .capacity = {.cut_for = absl::Seconds(cut.seconds), .left = cut.left},
          .sidecars = sidecars};
}

// Of the runs of all seeds, in order.
struct Runs {
  std::vector<double> recoveries;
  std::vector<double> worst_seconds;
};

Runs RunSeeds(const Saturation& saturation, const CallPolicy& policy, uint64_t seeds) {
  Runs runs;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SaturationRun run(saturation, policy, seed);
    runs.recoveries.push_back(run.Recovery(100));
    runs.worst_seconds.push_back(run.WorstSecond());
  }
  return runs;
}

class CallStormSaturation : public testing::TestWithParam<Cut> {};

TEST_P(CallStormSaturation, S8_RetriedTimeoutsDelayTheRecoveryByAtMostAQuarter) {
  for (const double load : {0.90, 0.92, 0.94}) {
    std::cout << GetParam().name << ", load " << load << "\n";
    // Without retries it does not matter through how many sidecars the same calls go.
    const Runs plain = RunSeeds(Of(GetParam(), load), WithoutRetries(), StormSeeds(10));
    const auto without = Distribution("  back without retries, s", plain.recoveries);
    for (const int sidecars : {1, 30}) {
      std::cout << "  sidecars: " << sidecars << "\n";
      const Runs retried =
          RunSeeds(Of(GetParam(), load, sidecars), TimeoutsRetried(), StormSeeds(10));
      const auto with = Distribution("  back with retries, s", retried.recoveries);
      Distribution("  attempts per call, worst second", retried.worst_seconds);
      EXPECT_LE(Median(with), 1.25 * Median(without) + 1) << load << ", " << sidecars;
      EXPECT_LE(with.back(), 1.25 * without.back() + 1) << load << ", " << sidecars;
      EXPECT_LT(with.back(), SaturationRun::kNever) << load << ", " << sidecars;
    }
  }
}

struct Overload {
  Cut cut;
  double load;
};

void PrintTo(const Overload& overload, std::ostream* out) {
  *out << overload.cut.name << " at " << overload.load;
}

CallPolicy Throttled() {
  CallPolicy policy = TimeoutsRetried();
  policy.throttle->mode = ThrottleMode::kEnforce;
  return policy;
}

class CallStormThrottle : public testing::TestWithParam<Overload> {};

TEST_P(CallStormThrottle, S9_ThrottlingShortensTheRecoveryByAFifth) {
  const Saturation saturation = Of(GetParam().cut, GetParam().load);
  const uint64_t seeds = StormSeeds(10);
  std::vector<double> without, with, good_without, good_with;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SaturationRun plain(saturation, WithoutRetries(), seed);
    SaturationRun throttled(saturation, Throttled(), seed);
    without.push_back(plain.Recovery(60));
    with.push_back(throttled.Recovery(60));
    good_without.push_back(plain.GoodDuringFault());
    good_with.push_back(throttled.GoodDuringFault());
  }
  std::cout << testing::PrintToString(GetParam()) << "; good during the fault without retries "
            << Mean(good_without) << ", with retries and throttle " << Mean(good_with) << "\n";
  without = Distribution("  back without retries, s", without);
  with = Distribution("  back with retries and throttle, s", with);
  EXPECT_LE(Median(with), std::min(0.8 * Median(without), 15.0));
  EXPECT_LE(with.back(), 15);
  // A shorter fault is over before its signs are clear.
  if (GetParam().cut.seconds >= 10) {
    EXPECT_GT(Mean(good_with), Mean(good_without));
  }
}

const Cut kTo85{"to 85% for 10 s", 0.85, 10};
const Cut kHalf{"to 50% for 2 s", 0.5, 2};
const Cut kStall{"stall of 2 s", 0, 2};
const Cut kLongStall{"stall of 4 s", 0, 4};

INSTANTIATE_TEST_SUITE_P(, CallStormSaturation, testing::Values(kTo85, kHalf, kStall, kLongStall));
INSTANTIATE_TEST_SUITE_P(, CallStormThrottle,
                         testing::Values(Overload{kTo85, 0.90}, Overload{kTo85, 0.94},
                                         Overload{kHalf, 0.90}, Overload{kHalf, 0.94},
                                         Overload{kStall, 0.90}, Overload{kStall, 0.94},
                                         Overload{kLongStall, 0.90}, Overload{kLongStall, 0.94},
                                         Overload{{"to 50% for 10 s", 0.5, 10}, 0.80},
                                         Overload{{"to 50% for 3 s", 0.5, 3}, 0.80},
                                         Overload{{"to 70% for 10 s", 0.7, 10}, 0.90},
                                         Overload{{"to 85% for 10 s", 0.85, 10}, 0.93}));

}  // namespace
}  // namespace levee
