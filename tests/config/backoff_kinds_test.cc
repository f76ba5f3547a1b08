// SPDX-License-Identifier: Apache-2.0
// The kinds of backoff: what each takes, and what it excludes.
#include <string>

#include "absl/time/time.h"
#include "config/faults_of.h"
#include "config/field_checker.h"
#include "config/yaml_reader.h"
#include "gtest/gtest.h"
#include "levee/config/v1/config.pb.h"

namespace levee {
namespace {

using Kind = BackoffPolicy::Kind;

BackoffPolicy BackoffOf(const std::string& fields) {
  return RetryOf("{backoff: {" + fields + "}}").backoff;
}

// The complete message that stands for these fields, as text.
std::string Effective(const std::string& fields) {
  config::v1::Backoff backoff;
  Positions positions;
  FaultList faults;
  ReadYaml("f", "{" + fields + "}", backoff, positions, faults);
  FieldChecker(positions, faults).CheckMessage("", backoff);
  EXPECT_TRUE(faults.empty()) << fields;
  return backoff.ShortDebugString();
}

TEST(BackoffKinds, ExponentialUnlessSaidOtherwise) {
  const BackoffPolicy backoff = BackoffOf("cap: after_jitter, max_elapsed: 15m");
  EXPECT_EQ(backoff.kind, Kind::kExponential);
  EXPECT_TRUE(backoff.cap_after_jitter);
  EXPECT_EQ(backoff.max_elapsed, absl::Minutes(15));
  EXPECT_FALSE(BackoffOf("cap: before_jitter").cap_after_jitter);
}

TEST(BackoffKinds, ScheduleIsAListOfDelays) {
  const BackoffPolicy backoff = BackoffOf("schedule: [1s, 2s, 4s], max_elapsed: 9s");
  EXPECT_EQ(backoff.kind, Kind::kSchedule);
  EXPECT_EQ(backoff.schedule,
            (std::vector<absl::Duration>{absl::Seconds(1), absl::Seconds(2), absl::Seconds(4)}));
  EXPECT_EQ(backoff.max_elapsed, absl::Seconds(9));
}

TEST(BackoffKinds, ConstantIsAScheduleOfOne) {
  const BackoffPolicy backoff = BackoffOf("constant: 10s, max_advice: 5s");
  EXPECT_EQ(backoff.kind, Kind::kSchedule);
  EXPECT_EQ(backoff.schedule, std::vector<absl::Duration>{absl::Seconds(10)});
  EXPECT_EQ(backoff.max_advice, absl::Seconds(5));
}

TEST(BackoffKinds, SlotsAreTruncatedAtTenUnlessSaidOtherwise) {
  const BackoffPolicy backoff = BackoffOf("slot: 51.2us");
  EXPECT_EQ(backoff.kind, Kind::kSlot);
  EXPECT_EQ(backoff.slot, absl::Nanoseconds(51200));
  EXPECT_EQ(backoff.truncate, 10);
  EXPECT_EQ(BackoffOf("slot: 1ms, truncate: 3").truncate, 3);
}

TEST(BackoffKinds, EffectiveConfigurationSaysOnlyWhatHolds) {
  EXPECT_EQ(Effective("initial: 10ms"),
            "initial: \"10ms\" multiplier: 2 max: \"1s\" jitter { kind: KIND_FULL } max_advice: "
            "\"1m\" max_elapsed: \"none\" cap: CAP_BEFORE_JITTER");
  EXPECT_EQ(Effective("constant: 10s"),
            "max_advice: \"1m\" constant: \"10s\" max_elapsed: \"none\"");
  EXPECT_EQ(Effective("schedule: [1s, 2s]"),
            "max_advice: \"1m\" schedule: \"1s\" schedule: \"2s\" max_elapsed: \"none\"");
  EXPECT_EQ(Effective("slot: 1ms"),
            "max_advice: \"1m\" slot: \"1ms\" truncate: 10 max_elapsed: \"none\"");
}

TEST(BackoffKinds, FieldsOfTwoKindsExcludeEachOther) {
  EXPECT_EQ(
      BackoffFaults("initial: 1s, max: 60s, constant: 10s"),
      "f:2:34: LV304 policies[0].retry.backoff.constant: excludes initial, max, given too; use one "
      "or the other");
  EXPECT_EQ(
      BackoffFaults("constant: 10s, schedule: [1s]"),
      "f:2:11: LV304 policies[0].retry.backoff.constant: excludes schedule, given too; use one or "
      "the other");
  EXPECT_EQ(
      BackoffFaults("schedule: [1s, 2s], jitter: full"),
      "f:2:1: LV304 policies[0].retry.backoff.schedule: excludes jitter, given too; use one or the "
      "other");
  EXPECT_EQ(
      BackoffFaults("slot: 1ms, multiplier: 3"),
      "f:2:7: LV304 policies[0].retry.backoff.slot: excludes multiplier, given too; use one or the "
      "other");
  EXPECT_EQ(
      BackoffFaults("slot: 1ms, cap: after_jitter, schedule: [1s]"),
      "f:2:7: LV304 policies[0].retry.backoff.slot: excludes cap, given too; use one or the other\n"
      "f:2:31: LV304 policies[0].retry.backoff.schedule: excludes cap, slot, given too; use one or "
      "the other");
}

TEST(BackoffKinds, ExcludedFieldsAreStillChecked) {
  EXPECT_EQ(
      BackoffFaults("constant: 10s, multiplier: 0.5"),
      "f:2:11: LV304 policies[0].retry.backoff.constant: excludes multiplier, given too; use one "
      "or the other\n"
      "f:2:28: LV201 policies[0].retry.backoff.multiplier: 0.5 is too small; it must be at least "
      "1");
}

TEST(BackoffKinds, TruncateNeedsASlot) {
  EXPECT_EQ(
      BackoffFaults("truncate: 5"),
      "f:2:11: LV305 policies[0].retry.backoff.truncate: has no effect without slot: there is "
      "nothing to truncate; give slot as well, or leave it out");
  EXPECT_EQ(
      BackoffFaults("slot: 1ms, truncate: 31"),
      "f:2:22: LV201 policies[0].retry.backoff.truncate: 31 is too large; it must be at most 30");
}

TEST(BackoffKinds, ScheduleIsNotEmpty) {
  EXPECT_EQ(BackoffFaults("schedule: []"),
            "f:2:1: LV111 policies[0].retry.backoff.schedule: is empty; give at least one delay");
  EXPECT_EQ(BackoffFaults("schedule: 1s"),
            "f:2:11: LV109 policies[0].retry.backoff.schedule: is \"1s\"; write a list; say [1s]");
}

}  // namespace
}  // namespace levee
