// SPDX-License-Identifier: Apache-2.0
// Retries of timeouts before a nearly saturated service: they must not keep it down. S8 is a row of
// the contract on storms; docs/decisions/saturation.md has the figures.
#include <algorithm>
#include <iostream>
#include <ostream>
#include <string>

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

INSTANTIATE_TEST_SUITE_P(, CallStormSaturation,
                         testing::Values(Cut{"to 85% for 10 s", 0.85, 10},
                                         Cut{"to 50% for 2 s", 0.5, 2}, Cut{"stall of 2 s", 0, 2},
                                         Cut{"stall of 4 s", 0, 4}));

}  // namespace
}  // namespace levee
