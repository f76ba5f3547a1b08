// SPDX-License-Identifier: Apache-2.0
#include "policy/outlier.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

// Fails often enough from `seconds` on, and is ejected then.
void EjectAt(Outlier& outlier, double seconds) {
  for (int i = 0; i < 5; ++i) outlier.Record(false, At(seconds) + absl::Milliseconds(i));
  EXPECT_TRUE(outlier.should_eject());
  outlier.Eject(At(seconds));
}

TEST(Outlier, FiveFailuresInARowAreEnough) {
  Outlier outlier;
  for (int i = 1; i <= 4; ++i) outlier.Record(false, At(i));
  EXPECT_FALSE(outlier.should_eject());
  outlier.Record(false, At(5));
  EXPECT_TRUE(outlier.should_eject());
}

TEST(Outlier, ASuccessBeginsTheRowAnew) {
  Outlier outlier;
  for (int i = 1; i <= 4; ++i) outlier.Record(false, At(i));
  outlier.Record(true, At(4));
  outlier.Record(false, At(5));
  EXPECT_FALSE(outlier.should_eject());
}

TEST(Outlier, FailuresAtOneInstantAreOne) {
  Outlier outlier;
  for (int i = 0; i < 100; ++i) outlier.Record(false, At(1));
  EXPECT_FALSE(outlier.should_eject());
}

TEST(Outlier, EachEjectionAfterAnotherLastsTwiceAsLong) {
  Outlier outlier;
  double now = 1000;
  for (const int seconds : {30, 60, 120, 240, 300, 300}) {
    EjectAt(outlier, now);
    EXPECT_TRUE(outlier.ejected());
    EXPECT_EQ(outlier.until(), At(now + seconds));
    now += seconds;
    outlier.Return(At(now));
    EXPECT_FALSE(outlier.ejected());
    EXPECT_FALSE(outlier.should_eject());
  }
}

TEST(Outlier, EachBaseSpanWithoutEjectionTakesADoublingBack) {
  Outlier outlier;
  EjectAt(outlier, 1000);
  outlier.Return(At(1030));
  EjectAt(outlier, 1030);
  outlier.Return(At(1090));
  // Two doublings, and one span of 30 s.
  EjectAt(outlier, 1120);
  EXPECT_EQ(outlier.until(), At(1120 + 60));
  outlier.Return(At(1180));
  EjectAt(outlier, 2000);
  EXPECT_EQ(outlier.until(), At(2000 + 30));
}

TEST(Outlier, WhatEndsDuringTheEjectionDoesNotCount) {
  Outlier outlier;
  EjectAt(outlier, 1000);
  for (int i = 1; i <= 5; ++i) outlier.Record(false, At(1000 + i));
  outlier.Return(At(1030));
  EXPECT_FALSE(outlier.should_eject());
}

}  // namespace
}  // namespace levee
