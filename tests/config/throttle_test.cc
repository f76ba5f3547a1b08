// SPDX-License-Identifier: Apache-2.0
// The adaptive throttle: its fields, and the codes that it should not go by.
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

ThrottlePolicy ThrottleOf(const std::string& fields) {
  return PolicyOf("throttle: {" + fields + "}").throttle.value();
}

std::string ThrottleWarnings(const std::string& fields) {
  const CheckedConfig checked =
      CheckConfig({{"f", PolicyText("throttle: {" + fields + "}")}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return FormatFaults(checked.warnings);
}

TEST(ThrottleConfig, DefaultObserves) {
  const ThrottlePolicy contract = {
      .k = 2,
      .window = absl::Seconds(3),
      .min_calls = 20,
      .on = {.mark = true, .timeout = true, .resource_exhausted = false, .unavailable = false},
      .mode = ThrottleMode::kObserve};
  EXPECT_EQ(SnapshotOf("")->policies[0].throttle, contract);
  EXPECT_EQ(ThrottleOf(""), contract);
  EXPECT_EQ(ThrottlePolicy(), contract);
}

TEST(ThrottleConfig, TakesItsFields) {
  const ThrottlePolicy throttle = ThrottleOf(
      "k: 1.5, window: 10s, min_calls: 5, on: [resource_exhausted, unavailable], mode: enforce");
  EXPECT_EQ(throttle.k, 1.5);
  EXPECT_EQ(throttle.window, absl::Seconds(10));
  EXPECT_EQ(throttle.min_calls, 5);
  EXPECT_EQ(throttle.on, (OverloadSigns{false, false, true, true}));
  EXPECT_EQ(throttle.mode, ThrottleMode::kEnforce);
}

TEST(ThrottleConfig, NoneSwitchesItOff) {
  EXPECT_FALSE(PolicyOf("throttle: none").throttle.has_value());
}

TEST(ThrottleConfig, FaultyValuesSayWhatIsAllowed) {
  EXPECT_EQ(PolicyFaults("throttle: {k: 0.5}"),
            "f:2:15: LV201 policies[0].throttle.k: 0.5 is too small; it must be at least 1");
  EXPECT_EQ(PolicyFaults("throttle: {window: 50ms}"),
            "f:2:20: LV201 policies[0].throttle.window: 50ms is too small; it must be at least "
            "100ms");
  EXPECT_EQ(PolicyFaults("throttle: {on: [overload]}"),
            "f:2:17: LV202 policies[0].throttle.on[0]: \"overload\" is unknown; allowed: mark, "
            "timeout, resource_exhausted, unavailable");
}

TEST(ThrottleConfig, CodesThatNeedNotMeanOverloadAreWarnedOfWhereItEnforces) {
  EXPECT_EQ(ThrottleWarnings("on: [mark, timeout], mode: enforce"), "");
  EXPECT_EQ(ThrottleWarnings("on: [unavailable, resource_exhausted]"), "");
  EXPECT_EQ(ThrottleWarnings("on: [mark, unavailable], mode: enforce"),
            "f:2:23: LV918 policies[0].throttle.on[1]: warning: says that the upstream cannot be "
            "used, not that it is overloaded: if a service fails at random, calls are rejected "
            "that would succeed; say on: [mark, timeout]");
  EXPECT_EQ(ThrottleWarnings("on: [resource_exhausted], mode: enforce"),
            "f:2:17: LV918 policies[0].throttle.on[0]: warning: is also the answer to a caller "
            "that exceeds its own quota, and then the calls of all other callers are rejected, "
            "too; say on: [mark, timeout]");
}

}  // namespace
}  // namespace levee
