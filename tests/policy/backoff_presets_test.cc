// SPDX-License-Identifier: Apache-2.0
// A32 for each preset: its values give the delays of the formula that it is named after.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/backoff.h"
#include "policy/kolmogorov_smirnov.h"

namespace levee {
namespace {

absl::Duration Sec(double seconds) { return absl::Seconds(seconds); }

// The n-th delay by the formula, in seconds.
struct Expected {
  int n;
  double low;
  double high;
  double cap = 1e6;
};

struct Preset {
  std::string name;
  BackoffPolicy policy;
  std::vector<Expected> delays;
};

const std::vector<Preset>& Presets() {
  // Fields that a preset does not name have the defaults of BackoffPolicy.
  static const std::vector<Preset> presets = {
      // min(100 ms x 2^(n-1), 1 s) x uniform [0.8, 1.2)
      {"grpc",
       {.initial = Sec(0.1), .max = Sec(1), .jitter = Jitter::kFactor, .factor = 0.2},
       {{1, 0.08, 0.12}, {4, 0.64, 0.96}, {5, 0.8, 1.2}, {9, 0.8, 1.2}}},
      // min(2^(n-1) s + uniform [0, 1 s], 64 s)
      {"google-cloud",
       {.initial = Sec(1), .max = Sec(64), .jitter = Jitter::kAdd, .add = Sec(1)},
       {{1, 1, 2}, {4, 8, 9}, {6, 32, 33}, {7, 64, 65, 64}, {9, 256, 257, 64}}},
      // min(500 ms x 1.5^(n-1), 60 s) x uniform [0.5, 1.5)
      {"google-http",
       {.initial = Sec(0.5),
        .multiplier = 1.5,
        .max = Sec(60),
        .jitter = Jitter::kFactor,
        .factor = 0.5,
        .max_elapsed = absl::Minutes(15)},
       {{1, 0.25, 0.75}, {3, 0.5625, 1.6875}, {5, 1.265625, 3.796875}, {13, 30, 90}}},
      // uniform [0, 4^n x 100 ms), at most 4^5
      {"aws-simpledb",
       {.initial = Sec(0.4), .multiplier = 4, .max = Sec(102.4)},
       {{1, 0, 0.4}, {2, 0, 1.6}, {3, 0, 6.4}, {5, 0, 102.4}, {6, 0, 102.4}}},
      // uniform [0, 2^n x 100 ms), at most 60 s
      {"full-jitter-100ms",
       {.initial = Sec(0.2), .max = Sec(60)},
       {{1, 0, 0.2}, {5, 0, 3.2}, {9, 0, 51.2}, {10, 0, 60}}},
      // min(600 s, uniform [0, 2^(n-1) s])
      {"celery",
       {.initial = Sec(1), .max = Sec(600), .cap_after_jitter = true},
       {{1, 0, 1}, {5, 0, 16}, {10, 0, 512}, {11, 0, 1024, 600}, {12, 0, 2048, 600}}},
      // min(2^(n-1) s + uniform [0, 1 s], 15 s)
      {"vital",
       {.initial = Sec(1), .max = Sec(15), .jitter = Jitter::kAdd, .add = Sec(1)},
       {{1, 1, 2}, {3, 4, 5}, {4, 8, 9}, {5, 16, 17, 15}}},
  };
  return presets;
}

TEST(BackoffPresets, A32_EachHasTheDelaysOfItsFormula) {
  for (const Preset& preset : Presets()) {
    SCOPED_TRACE(preset.name);
    for (const Expected& delay : preset.delays) {
      ExpectNth(preset.policy, delay.n, Uniform(Sec(delay.low), Sec(delay.high), Sec(delay.cap)));
    }
  }
}

// 51.2 us x uniform {0 .. 2^min(n, 10) - 1}, in whole milliseconds as timers go.
TEST(BackoffPresets, A32_EthernetHasTheDelaysOfItsFormula) {
  const BackoffPolicy policy = {
      .kind = BackoffPolicy::Kind::kSlot, .slot = absl::Nanoseconds(51'200), .truncate = 10};
  for (int n : {1, 2, 6, 10, 11, 15}) {
    const double slots = n < 10 ? 1 << n : 1024;
    ExpectNth(policy, n, [slots](absl::Duration x) {
      if (x < absl::ZeroDuration()) return 0.0;
      // Slots that end in the whole milliseconds up to `x`, the one of length zero among them.
      const double until = absl::FDivDuration(absl::Floor(x, Sec(0.001)), Sec(0.0000512));
      return std::min((std::floor(until) + 1) / slots, 1.0);
    });
  }
}

}  // namespace
}  // namespace levee
