// SPDX-License-Identifier: Apache-2.0
#include "demo/call_times.h"

#include <gtest/gtest.h>

namespace levee::demo {
namespace {

TEST(CallTimes, APercentileIsRoundedUpToAMillisecond) {
  CallTimes times;
  for (int ms = 0; ms < 100; ++ms) times.Add(absl::Milliseconds(ms) + absl::Microseconds(500));
  EXPECT_EQ(times.Percentile(0.5), absl::Milliseconds(50));
  EXPECT_EQ(times.Percentile(0.99), absl::Milliseconds(99));
  EXPECT_EQ(times.Percentile(1), absl::Milliseconds(100));
}

TEST(CallTimes, WithoutCallsHaveNoPercentile) {
  EXPECT_EQ(CallTimes().Percentile(0.5), std::nullopt);
}

TEST(CallTimes, CountWhatTookLongerThanAllElse) {
  CallTimes times;
  times.Add(absl::Milliseconds(1));
  times.Add(absl::Hours(1));
  EXPECT_GE(times.Percentile(0.99), absl::Seconds(1));
}

}  // namespace
}  // namespace levee::demo
