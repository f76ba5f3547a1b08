// SPDX-License-Identifier: Apache-2.0
#include "server/eviction_order.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Instant At(int seconds) { return Instant() + absl::Seconds(seconds); }

TEST(EvictionOrder, NothingGoesWhereNothingIs) { EXPECT_THAT(EvictionOrder({}), IsEmpty()); }

TEST(EvictionOrder, TheLeastRecentlyUsedGoesFirst) {
  const std::vector<DestinationUse> uses = {
      {1, true, At(5)}, {1, true, At(3)}, {1, true, At(9)}, {1, true, At(4)}};
  EXPECT_THAT(EvictionOrder(uses), ElementsAre(1, 3, 0, 2));
}

TEST(EvictionOrder, WhatWasNeverReachedGoesBeforeWhatServed) {
  const std::vector<DestinationUse> uses = {
      {1, true, At(1)}, {1, false, At(9)}, {1, true, At(2)}, {1, false, At(8)}};
  EXPECT_THAT(EvictionOrder(uses), ElementsAre(3, 1, 0, 2));
}

TEST(EvictionOrder, WhoNamedMostLosesHisOwnFirst) {
  const std::vector<DestinationUse> uses = {
      {1, true, At(1)}, {2, true, At(6)}, {2, true, At(7)}, {2, true, At(8)}, {3, false, At(2)}};
  EXPECT_THAT(EvictionOrder(uses), ElementsAre(1, 2, 4, 0, 3));
}

TEST(EvictionOrder, ThousandsOfNamesOfOneSenderAllGoBeforeAnyOfAnother) {
  std::vector<DestinationUse> uses(6, {.sender = 7, .reached = true, .last_used = At(1)});
  for (int i = 0; i < 1000; ++i) uses.push_back({8, true, At(10 + i)});
  const std::vector<size_t> order = EvictionOrder(uses);
  for (size_t i = 0; i < 994; ++i) EXPECT_GE(order[i], 6U);
}

TEST(EvictionOrder, WhatTheConfigurationNamesStaysBesideManyNamesOfACaller) {
  const std::vector<DestinationUse> uses = {
      {0, false, At(0)}, {0, false, At(0)}, {5, true, At(3)}, {5, true, At(4)}, {5, true, At(5)}};
  EXPECT_EQ(EvictionOrder(uses)[0], 2U);
}

}  // namespace
}  // namespace levee
