// SPDX-License-Identifier: Apache-2.0
#include "policy/throttle_table.h"

#include <gtest/gtest.h>

#include "policy/times.h"

namespace levee {
namespace {

TEST(ThrottleTable, CallsToOneDestinationShareAThrottleUnlessTheirPoliciesDiffer) {
  ThrottleTable table(1, 10);
  const auto first = table.Get("cart", "", {}, At(0));
  EXPECT_EQ(table.Get("cart", "", {}, At(0)), first);
  EXPECT_NE(table.Get("payments", "", {}, At(0)), first);
  EXPECT_NE(table.Get("cart", "10.0.0.7:50051", {}, At(0)), first);
  EXPECT_NE(table.Get("cart", "", {.k = 3}, At(0)), first);
  EXPECT_NE(table.Get("cart", "", {.on = {.unavailable = true}}, At(0)), first);
  EXPECT_NE(table.Get("cart", "", {.mode = ThrottleMode::kEnforce}, At(0)), first);
}

TEST(ThrottleTable, AuthoritiesBeyondTheLimitAreNotThrottled) {
  ThrottleTable table(1, 1);
  const auto used = table.Get("anywhere", "a:1", {}, At(0));
  EXPECT_NE(used, nullptr);
  EXPECT_EQ(table.Get("anywhere", "b:1", {}, At(0)), nullptr);
  EXPECT_EQ(table.Get("anywhere", "a:1", {}, At(0)), used);
  EXPECT_NE(table.Get("cart", "", {}, At(0)), nullptr);
}

TEST(ThrottleTable, OneThatNobodyUsesMakesRoomOnceItRejectsNothing) {
  ThrottleTable table(1, 1);
  for (auto throttle = table.Get("anywhere", "a:1", {}, At(0)); throttle != nullptr;) {
    for (int i = 0; i < 100; ++i) throttle->OnEnd(0, /*overload=*/true, At(0));
    throttle = nullptr;
  }
  EXPECT_EQ(table.Get("anywhere", "b:1", {}, At(2)), nullptr);
  EXPECT_NE(table.Get("anywhere", "b:1", {}, At(10)), nullptr);
}

TEST(ThrottleTable, ShowsTheLargestProbabilityOfEachUpstream) {
  ThrottleTable table(1, 10);
  const auto calm = table.Get("cart", "", {}, At(0));
  const auto troubled = table.Get("cart", "", {.k = 3}, At(0));
  const auto other = table.Get("payments", "", {}, At(0));
  for (int i = 0; i < 100; ++i) troubled->OnEnd(0, /*overload=*/true, At(0));
  const auto probabilities = table.Probabilities(At(0));
  EXPECT_DOUBLE_EQ(probabilities.at("cart"), 100.0 / 101);
  EXPECT_EQ(probabilities.at("payments"), 0);
}

}  // namespace
}  // namespace levee
