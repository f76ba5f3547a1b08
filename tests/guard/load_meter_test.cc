// SPDX-License-Identifier: Apache-2.0
#include "guard/load_meter.h"

#include "gtest/gtest.h"
#include "guard/times.h"

namespace levee {
namespace {

// Calls that end every 10 ms while the service is so utilized; every fourth fails.
LoadReport Load(LoadMeter& meter, double utilization, Instant& now, absl::Duration length) {
  LoadReport report;
  const Instant end = now + length;
  for (int i = 0; now < end; ++i) {
    now = now + absl::Milliseconds(10);
    report = meter.OnEnd(i % 4 == 0, utilization, now);
  }
  return report;
}

TEST(LoadMeter, TellsTheLoadOfTheLastSeconds) {
  LoadMeter meter;
  Instant now = kStart;
  const LoadReport steady = Load(meter, 0.5, now, absl::Seconds(10));
  EXPECT_NEAR(steady.utilization, 0.5, 0.001);
  EXPECT_NEAR(steady.calls, 100, 3);
  EXPECT_NEAR(steady.errors, 25, 3);
  // After one second an average has gone most of the way: 1 - 1/e.
  EXPECT_NEAR(Load(meter, 1.5, now, absl::Seconds(1)).utilization, 0.5 + 0.63, 0.05);
  EXPECT_NEAR(Load(meter, 1.5, now, absl::Seconds(9)).utilization, 1.5, 0.001);
}

TEST(LoadMeter, KnowsTheUtilizationFromTheFirstCallOn) {
  LoadMeter meter;
  const LoadReport first = meter.OnEnd(false, 0.25, kStart);
  EXPECT_EQ(first.utilization, 0.25);
  EXPECT_EQ(first.calls, 0);  // It is not known in which time.
}

TEST(LoadMeter, ForgetsALoadThatIsLongOver) {
  LoadMeter meter;
  Instant now = kStart;
  Load(meter, 2, now, absl::Seconds(10));
  const LoadReport later = meter.OnEnd(false, 0.1, now + absl::Seconds(60));
  EXPECT_NEAR(later.utilization, 0.1, 0.001);
  EXPECT_LT(later.calls, 1);
}

}  // namespace
}  // namespace levee
