// SPDX-License-Identifier: Apache-2.0
// A nearly saturated service: retries of timeouts must not keep it down, and a throttle brings it
// back. S8 and S9 are rows of the contract on storms; docs/decisions/saturation.md has the figures.
#include <algorithm>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "call/saturation.h"
#include "sim/workload.h"

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

// How long each seed's run takes to recover, in order.
std::vector<double> Recoveries(const Saturation& saturation, const CallPolicy& policy) {
  std::vector<double> recoveries;
  for (uint64_t seed = 1; seed <= kSaturationSeeds; ++seed) {
    recoveries.push_back(SaturationRun(saturation, policy, seed).Recovery(100));
  }
  std::sort(recoveries.begin(), recoveries.end());
  return recoveries;
}

class CallStormSaturation : public testing::TestWithParam<Cut> {};

TEST_P(CallStormSaturation, S8_RetriedTimeoutsDelayTheRecoveryByAtMostAQuarter) {
  for (const int sidecars : {1, 30}) {
    for (const double load : {0.90, 0.92, 0.94}) {
      const Saturation saturation = Of(GetParam(), load, sidecars);
      const auto without = Recoveries(saturation, WithoutRetries());
      const auto with = Recoveries(saturation, TimeoutsRetried());
      std::cout << GetParam().name << ", load " << load << ", " << sidecars
                << " sidecars: without retries median " << without[kSaturationSeeds / 2]
                << " s, worst " << without.back() << " s; with median "
                << with[kSaturationSeeds / 2] << " s, worst " << with.back() << " s of "
                << kSaturationSeeds << " seeds\n";
      EXPECT_LE(with[kSaturationSeeds / 2], 1.25 * without[kSaturationSeeds / 2] + 1)
          << load << ", " << sidecars;
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
  std::vector<double> without, with;
  double good_without = 0, good_with = 0;
  for (uint64_t seed = 1; seed <= kSaturationSeeds; ++seed) {
    SaturationRun plain(saturation, WithoutRetries(), seed);
    SaturationRun throttled(saturation, Throttled(), seed);
    without.push_back(plain.Recovery(60));
    with.push_back(throttled.Recovery(60));
    good_without += plain.GoodDuringFault() / kSaturationSeeds;
    good_with += throttled.GoodDuringFault() / kSaturationSeeds;
  }
  std::sort(without.begin(), without.end());
  std::sort(with.begin(), with.end());
  std::cout << testing::PrintToString(GetParam()) << ": without retries median "
            << without[kSaturationSeeds / 2] << " s, worst " << without.back() << " s, "
            << good_without << " good during the fault; with retries and throttle median "
            << with[kSaturationSeeds / 2] << " s, worst " << with.back() << " s, " << good_with
            << " good, of " << kSaturationSeeds << " seeds\n";
  EXPECT_LE(with[kSaturationSeeds / 2], std::min(0.8 * without[kSaturationSeeds / 2], 15.0));
  EXPECT_LE(with.back(), 15);
  // A shorter fault is over before its signs are clear.
  if (GetParam().cut.seconds >= 10) {
    EXPECT_GT(good_with, good_without);
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
