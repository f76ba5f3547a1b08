// SPDX-License-Identifier: Apache-2.0
#include "demo/arrivals.h"

#include <gtest/gtest.h>

#include "demo/times.h"

namespace levee::demo {
namespace {

TEST(Arrivals, ComeAtTheGivenRate) {
  Arrivals arrivals(400, At(0), 1);
  int count = 0;
  for (int64_t ms = 0; ms <= 100'000; ++ms) count += arrivals.TakeDue(At(ms));
  EXPECT_NEAR(count, 40'000, 600);
}

TEST(Arrivals, ComeAtANewRate) {
  Arrivals arrivals(400, At(0), 1);
  arrivals.TakeDue(At(0));
  arrivals.SetRate(1200);
  int count = 0;
  for (int64_t ms = 0; ms <= 100'000; ++ms) count += arrivals.TakeDue(At(ms));
  EXPECT_NEAR(count, 120'000, 1500);
}

TEST(Arrivals, ComeAtUnevenGaps) {
  Arrivals arrivals(1000, At(0), 1);
  int in_a_millisecond[3] = {};
  for (int64_t ms = 1; ms <= 1000; ++ms) {
    const int count = arrivals.TakeDue(At(ms));
    if (count < 3) ++in_a_millisecond[count];
  }
  // Poisson with mean 1: e^-1, e^-1, e^-1 / 2.
  EXPECT_NEAR(in_a_millisecond[0], 368, 50);
  EXPECT_NEAR(in_a_millisecond[1], 368, 50);
  EXPECT_NEAR(in_a_millisecond[2], 184, 50);
}

TEST(Arrivals, TheSameSeedGivesTheSameLoad) {
  Arrivals one(400, At(0), 7);
  Arrivals other(400, At(0), 7);
  for (int64_t ms = 0; ms < 1000; ++ms) EXPECT_EQ(one.TakeDue(At(ms)), other.TakeDue(At(ms)));
}

TEST(Arrivals, AStallIsMadeUpForOnlyInPart) {
  Arrivals arrivals(400, At(0), 1);
  EXPECT_NEAR(arrivals.TakeDue(At(10'000)), 40, 20);
  EXPECT_GT(arrivals.next(), At(10'000));
}

}  // namespace
}  // namespace levee::demo
