// SPDX-License-Identifier: Apache-2.0
// Hedging: its fields, and what it excludes.
#include "absl/time/time.h"
#include "config/faults_of.h"
#include "config/field_checker.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

HedgePolicy HedgeOf(const std::string& fields) {
  return PolicyOf("hedge: {" + fields + "}").hedge.value_or(HedgePolicy());
}

TEST(Hedge, DelayAttemptsAndNonFatalCodes) {
  const HedgePolicy hedge =
      HedgeOf("delay: 50ms, max_attempts: 3, non_fatal: [UNAVAILABLE, aborted]");
  EXPECT_EQ(hedge.delay, absl::Milliseconds(50));
  EXPECT_EQ(hedge.quantile, 0);
  EXPECT_EQ(hedge.max_attempts, 3);
  EXPECT_EQ(hedge.non_fatal, (StatusCodeSet{StatusCode::kUnavailable, StatusCode::kAborted}));
}

TEST(Hedge, DefaultsAreTheContracts) {
  const HedgePolicy hedge = HedgeOf("delay: 0s");
  EXPECT_EQ(hedge.delay, absl::ZeroDuration());
  EXPECT_EQ(hedge.max_attempts, 2);
  EXPECT_EQ(hedge.non_fatal, StatusCodeSet{StatusCode::kUnavailable});
  EXPECT_TRUE(HedgeOf("delay: 1s, non_fatal: []").non_fatal.empty());
  EXPECT_FALSE(PolicyOf("hedge: none").hedge.has_value());
}

TEST(Hedge, DelayCanBeAPercentile) {
  EXPECT_EQ(HedgeOf("delay: p95").quantile, 0.95);
  EXPECT_EQ(HedgeOf("delay: p95").delay, absl::ZeroDuration());
  EXPECT_EQ(HedgeOf("delay: p99.9").quantile, 0.999);
}

TEST(Hedge, FaultyDelaysSayWhatIsAllowed) {
  EXPECT_EQ(PolicyFaults("hedge: {max_attempts: 2}"),
            "f:2:1: LV110 policies[0].hedge.delay: is missing; it must be given");
  EXPECT_EQ(PolicyFaults("hedge: {delay: p100}"),
            "f:2:16: LV204 policies[0].hedge.delay: \"p100\" is not a percentile; say p50, p95 or "
            "p99.9 (p1 "
            "to p99.9)");
  EXPECT_EQ(PolicyFaults("hedge: {delay: P95}"),
            "f:2:16: LV204 policies[0].hedge.delay: \"P95\" is not a percentile; say p50, p95 or "
            "p99.9 (p1 "
            "to p99.9)");
  EXPECT_EQ(PolicyFaults("hedge: {delay: 50}"),
            "f:2:16: LV204 policies[0].hedge.delay: \"50\" has no unit; say 50ms or 50s");
  EXPECT_EQ(PolicyFaults("hedge: {delay: -1ms}"),
            "f:2:16: LV201 policies[0].hedge.delay: -1ms is too small; it must be at least 0s");
  EXPECT_EQ(
      PolicyFaults("hedge: {delay: none}"),
      "f:2:16: LV203 policies[0].hedge.delay: cannot be switched off with none; give it a value");
  EXPECT_EQ(PolicyFaults("hedge: 50ms"),
            "f:2:8: LV109 policies[0].hedge: is \"50ms\"; write a mapping of these: delay, "
            "max_attempts, non_fatal");
}

TEST(Hedge, HedgedCallsAreNotRetried) {
  EXPECT_EQ(PolicyOf("hedge: {delay: 1s}").retry.max_attempts, 1);
  EXPECT_EQ(PolicyOf("hedge: {delay: 1s}, retry: {codes: []}").retry.max_attempts, 1);
  EXPECT_EQ(PolicyOf("hedge: {delay: 1s}, retry: {max_attempts: 1}").retry.max_attempts, 1);
  EXPECT_EQ(PolicyOf("hedge: none").retry.max_attempts, 3);
  EXPECT_EQ(SnapshotOf(PolicyText("hedge: {delay: 1s}"))->sha256,
            SnapshotOf(PolicyText("hedge: {delay: 1s}, retry: {max_attempts: 1}"))->sha256);
}

TEST(Hedge, RetriesBesideItAreRefusedWithBothPositions) {
  EXPECT_EQ(
      PolicyFaults("hedge: {delay: 1s},\nretry: {max_attempts: 2}"),
      "f:3:23: LV311 policies[0].retry.max_attempts: 2 is too large beside hedge at f:2:1; hedged "
      "calls are not retried: say 1, or leave one of the two out");
  EXPECT_EQ(
      PolicyFaults("hedge: {delay: 1s},\nretry: {rules: [{http: [429]}]}"),
      "f:3:9: LV311 policies[0].retry.rules: has no effect beside hedge at f:2:1; hedged calls are "
      "not retried: leave one of the two out");
  EXPECT_EQ(PolicyFaults("hedge: none,\nretry: {max_attempts: 2, rules: [{http: [429]}]}"), "");
}

TEST(Hedge, CallsThatMayNeverRunTwiceAreNotHedged) {
  EXPECT_EQ(
      PolicyFaults("hedge: {delay: 1s},\nidempotency: {mode: never}"),
      "f:3:21: LV311 policies[0].idempotency.mode: never rules out hedge at f:2:1, which may run a "
      "call twice; say auto or always, or leave hedge out");
  EXPECT_EQ(PolicyFaults("hedge: {delay: 1s}, idempotency: {mode: always}"), "");
  EXPECT_EQ(PolicyFaults("hedge: {delay: 1s}, idempotency: {mode: auto}"), "");
}

}  // namespace
}  // namespace levee
