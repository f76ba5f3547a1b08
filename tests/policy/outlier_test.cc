// SPDX-License-Identifier: Apache-2.0
#include "policy/outlier.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace levee {
namespace {

Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

bool FailsInARow(Outlier& outlier) {
  SuccessWindow no_others;
  return outlier.ShouldEject({}, no_others, At(0));
}

// An endpoint beside others, all of which fail at random.
class Beside {
 public:
  // `rate`: of the endpoint's successes. True if it is ejected within `attempts` of its attempts,
  // which come at `per_second`; the others have as many.
  bool Ejects(double rate, double rate_of_others, int attempts, double per_second,
              uint64_t seed = 1) {
    Random random(seed);
    Outlier outlier;
    SuccessWindow all;
    for (int i = 0; i < attempts; ++i) {
      const Instant now = At(i / per_second);
      all.Record(random.Uniform() < rate_of_others, now);
      // Successes come one by one, so that failures are not in a row by chance.
      const bool success = random.Uniform() < rate;
      if (outlier.Record(success, now)) all.Record(success, now);
      row_ = success ? 0 : row_ + 1;
      if (!success && row_ < EjectionPolicy().failures && outlier.ShouldEject({}, all, now))
        return true;
      if (row_ == EjectionPolicy().failures - 1) outlier.Return(now);  // Forgets the row.
    }
    return false;
  }

 private:
  int row_ = 0;
};

// Fails often enough from `seconds` on, and is ejected then.
void EjectAt(Outlier& outlier, double seconds) {
  for (int i = 0; i < 5; ++i) outlier.Record(false, At(seconds) + absl::Milliseconds(i));
  EXPECT_TRUE(FailsInARow(outlier));
  outlier.Eject({}, At(seconds));
}

TEST(Outlier, FiveFailuresInARowAreEnough) {
  Outlier outlier;
  for (int i = 1; i <= 4; ++i) outlier.Record(false, At(i));
  EXPECT_FALSE(FailsInARow(outlier));
  outlier.Record(false, At(5));
  EXPECT_TRUE(FailsInARow(outlier));
}

TEST(Outlier, ASuccessBeginsTheRowAnew) {
  Outlier outlier;
  for (int i = 1; i <= 4; ++i) outlier.Record(false, At(i));
  outlier.Record(true, At(4));
  outlier.Record(false, At(5));
  EXPECT_FALSE(FailsInARow(outlier));
}

TEST(Outlier, FailuresAtOneInstantAreOne) {
  Outlier outlier;
  for (int i = 0; i < 100; ++i) outlier.Record(false, At(1));
  EXPECT_FALSE(FailsInARow(outlier));
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
    EXPECT_FALSE(FailsInARow(outlier));
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
  EXPECT_FALSE(FailsInARow(outlier));
}

TEST(Outlier, AnEndpointThatFailsMoreOftenThanTheOthersIsOne) {
  EXPECT_TRUE(Beside().Ejects(0.5, 1, 100, 10));
  EXPECT_TRUE(Beside().Ejects(0.7, 0.99, 200, 20));
  EXPECT_TRUE(Beside().Ejects(0.3, 0.6, 1000, 100));
}

TEST(Outlier, AnEndpointThatFailsALittleMoreOftenIsNone) {
  EXPECT_FALSE(Beside().Ejects(0.9, 1, 1000, 100));
}

TEST(Outlier, TheSuccessRateNeedsTwentyAttemptsInTenSeconds) {
  EXPECT_FALSE(Beside().Ejects(0.5, 1, 1000, 1.5));
  EXPECT_TRUE(Beside().Ejects(0.5, 1, 1000, 3));
}

TEST(Outlier, EndpointsThatAllFailAlikeAreRarelyTakenForOnes) {
  int ejected = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    if (Beside().Ejects(0.5, 0.5, 100, 10, seed)) ++ejected;
  }
  EXPECT_LE(ejected, 50);
}

}  // namespace
}  // namespace levee
