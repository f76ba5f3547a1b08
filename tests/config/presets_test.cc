// SPDX-License-Identifier: Apache-2.0
// Backoff presets: each value of the contract's table, and what may stand beside them.
#include <string>

#include "absl/time/time.h"
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

BackoffPolicy Preset(const std::string& fields) {
  return RetryOf("{backoff: {preset: " + fields + "}}").backoff;
}

std::string Sha256Of(const std::string& backoff) {
  return SnapshotOf(PolicyText("retry: {backoff: {" + backoff + "}}"))->sha256;
}

// The fields that presets leave unchanged.
void ExpectDefaultsElsewhere(const BackoffPolicy& backoff) {
  EXPECT_EQ(backoff.kind, BackoffPolicy::Kind::kExponential);
  EXPECT_FALSE(backoff.cap_after_jitter);
  EXPECT_EQ(backoff.max_elapsed, absl::InfiniteDuration());
  EXPECT_EQ(backoff.max_advice, absl::Seconds(60));
}

TEST(Presets, Grpc) {
  const BackoffPolicy backoff = Preset("grpc");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(100));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(1));
  EXPECT_EQ(backoff.jitter, Jitter::kFactor);
  EXPECT_EQ(backoff.factor, 0.2);
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, GoogleCloud) {
  const BackoffPolicy backoff = Preset("google-cloud");
  EXPECT_EQ(backoff.initial, absl::Seconds(1));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(64));
  EXPECT_EQ(backoff.jitter, Jitter::kAdd);
  EXPECT_EQ(backoff.add, absl::Seconds(1));
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, GoogleHttp) {
  BackoffPolicy backoff = Preset("google-http");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(500));
  EXPECT_EQ(backoff.multiplier, 1.5);
  EXPECT_EQ(backoff.max, absl::Seconds(60));
  EXPECT_EQ(backoff.jitter, Jitter::kFactor);
  EXPECT_EQ(backoff.factor, 0.5);
  EXPECT_EQ(backoff.max_elapsed, absl::Minutes(15));
  backoff.max_elapsed = absl::InfiniteDuration();
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, AwsSimpledb) {
  const BackoffPolicy backoff = Preset("aws-simpledb");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(400));
  EXPECT_EQ(backoff.multiplier, 4);
  EXPECT_EQ(backoff.max, absl::Milliseconds(102'400));
  EXPECT_EQ(backoff.jitter, Jitter::kFull);
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, Aws2026) {
  const BackoffPolicy backoff = Preset("aws-2026");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(50));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(20));
  EXPECT_EQ(backoff.jitter, Jitter::kFull);
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, Linkerd) {
  const BackoffPolicy backoff = Preset("linkerd");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(25));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Milliseconds(250));
  EXPECT_EQ(backoff.jitter, Jitter::kAdd);
  EXPECT_EQ(backoff.add, absl::Milliseconds(25));
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, EnvoyAndIstioWaitAlike) {
  for (const char* name : {"envoy", "istio"}) {
    const BackoffPolicy backoff = Preset(name);
    EXPECT_EQ(backoff.initial, absl::Milliseconds(25));
    EXPECT_EQ(backoff.multiplier, 2);
    EXPECT_EQ(backoff.max, absl::Milliseconds(250));
    EXPECT_EQ(backoff.jitter, Jitter::kFull);
    ExpectDefaultsElsewhere(backoff);
  }
}

TEST(Presets, FullJitter100Ms) {
  const BackoffPolicy backoff = Preset("full-jitter-100ms");
  EXPECT_EQ(backoff.initial, absl::Milliseconds(200));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(60));
  EXPECT_EQ(backoff.jitter, Jitter::kFull);
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, Celery) {
  BackoffPolicy backoff = Preset("celery");
  EXPECT_EQ(backoff.initial, absl::Seconds(1));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(600));
  EXPECT_EQ(backoff.jitter, Jitter::kFull);
  EXPECT_TRUE(backoff.cap_after_jitter);
  backoff.cap_after_jitter = false;
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, Ethernet) {
  const BackoffPolicy backoff = Preset("ethernet");
  EXPECT_EQ(backoff.kind, BackoffPolicy::Kind::kSlot);
  EXPECT_EQ(backoff.slot, absl::Nanoseconds(51'200));
  EXPECT_EQ(backoff.truncate, 10);
  EXPECT_EQ(RetryOf("{backoff: {preset: ethernet}}").max_attempts, 3);
}

TEST(Presets, Vital) {
  const BackoffPolicy backoff = Preset("vital");
  EXPECT_EQ(backoff.initial, absl::Seconds(1));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(15));
  EXPECT_EQ(backoff.jitter, Jitter::kAdd);
  EXPECT_EQ(backoff.add, absl::Seconds(1));
  ExpectDefaultsElsewhere(backoff);
}

TEST(Presets, FieldsBesideThePresetWin) {
  const BackoffPolicy backoff = Preset("google-cloud, max: 8s, max_elapsed: 1m");
  EXPECT_EQ(backoff.initial, absl::Seconds(1));
  EXPECT_EQ(backoff.max, absl::Seconds(8));
  EXPECT_EQ(backoff.jitter, Jitter::kAdd);
  EXPECT_EQ(backoff.max_elapsed, absl::Minutes(1));
  EXPECT_EQ(Preset("google-http, max_elapsed: none").max_elapsed, absl::InfiniteDuration());
  EXPECT_FALSE(Preset("celery, cap: before_jitter").cap_after_jitter);
  EXPECT_EQ(Preset("ethernet, truncate: 4").truncate, 4);
}

TEST(Presets, JitterBesideThePresetReplacesItAsAWhole) {
  const BackoffPolicy plain = Preset("grpc, jitter: equal");
  EXPECT_EQ(plain.jitter, Jitter::kEqual);
  EXPECT_EQ(plain.factor, 0);
  const BackoffPolicy add = Preset("grpc, jitter: {add: 5ms}");
  EXPECT_EQ(add.jitter, Jitter::kAdd);
  EXPECT_EQ(add.add, absl::Milliseconds(5));
  EXPECT_EQ(add.factor, 0);
}

TEST(Presets, PresetIsTheSameAsWhatItStandsFor) {
  EXPECT_EQ(Sha256Of("preset: grpc"),
            Sha256Of("initial: 100ms, multiplier: 2, max: 1s, jitter: {factor: 0.2}"));
  EXPECT_EQ(Sha256Of("preset: ethernet"), Sha256Of("slot: 51200ns"));
  EXPECT_NE(Sha256Of("preset: grpc"), Sha256Of("preset: vital"));
}

TEST(Presets, UnknownPresetSuggestsTheNearest) {
  EXPECT_EQ(
      BackoffFaults("preset: google_cloud"),
      "f:2:9: LV202 policies[0].retry.backoff.preset: \"google_cloud\" is unknown; did you mean "
      "google-cloud?");
  EXPECT_EQ(
      BackoffFaults("preset: exponential"),
      "f:2:9: LV202 policies[0].retry.backoff.preset: \"exponential\" is unknown; allowed: grpc, "
      "google-cloud, google-http, aws-simpledb, full-jitter-100ms, celery, ethernet, vital, "
      "aws-2026, linkerd, istio, envoy");
}

TEST(Presets, NothingIsComparedWithAnUnknownPreset) {
  EXPECT_EQ(
      BackoffFaults("preset: gpc, initial: 2s"),
      "f:2:9: LV202 policies[0].retry.backoff.preset: \"gpc\" is unknown; did you mean grpc?");
}

TEST(Presets, FieldOfAnotherKindThanThePresetsIsRefused) {
  EXPECT_EQ(
      BackoffFaults("preset: ethernet, initial: 1s, jitter: {add: 1s}"),
      "f:2:28: LV304 policies[0].retry.backoff.initial: is excluded by slot, which preset ethernet "
      "sets; use one or the other\n"
      "f:2:32: LV304 policies[0].retry.backoff.jitter: is excluded by slot, which preset ethernet "
      "sets; use one or the other");
  EXPECT_EQ(BackoffFaults("preset: grpc, constant: 10s"),
            "f:2:25: LV304 policies[0].retry.backoff.constant: excludes initial, multiplier, max, "
            "jitter, which preset grpc sets; use one or the other");
  EXPECT_EQ(
      BackoffFaults("preset: ethernet, schedule: [1s]"),
      "f:2:19: LV304 policies[0].retry.backoff.schedule: excludes slot, which preset ethernet "
      "sets; use one or the other");
  EXPECT_EQ(
      BackoffFaults("preset: grpc, truncate: 5"),
      "f:2:25: LV305 policies[0].retry.backoff.truncate: has no effect without slot: there is "
      "nothing to truncate; give slot as well, or leave it out");
}

TEST(Presets, MaxIsAtLeastThePresetsInitial) {
  EXPECT_EQ(
      BackoffFaults("preset: google-cloud, max: 500ms"),
      "f:2:28: LV306 policies[0].retry.backoff.max: 500ms is below initial, 1s (the preset's); it "
      "must be at least that");
  EXPECT_EQ(
      BackoffFaults("preset: grpc, initial: 2s"),
      "f:2:24: LV306 policies[0].retry.backoff.initial: 2s is above max, 1s (the preset's); it "
      "must be at most that");
  EXPECT_EQ(BackoffFaults("preset: google-cloud, max: 1s"), "");
}

}  // namespace
}  // namespace levee
