// SPDX-License-Identifier: Apache-2.0
#include "base/memory_account.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

constexpr auto kPlenty = MemoryLevel::kPlenty;
constexpr auto kTight = MemoryLevel::kTight;
constexpr auto kFull = MemoryLevel::kFull;

TEST(MemoryAccount, IsTightFromSixTenthsOnAndFullFromEightTenthsOn) {
  const MemoryAccount account(1000);
  EXPECT_EQ(account.Level(599, kPlenty), kPlenty);
  EXPECT_EQ(account.Level(600, kPlenty), kTight);
  EXPECT_EQ(account.Level(799, kTight), kTight);
  EXPECT_EQ(account.Level(800, kPlenty), kFull);
  EXPECT_EQ(account.Level(5000, kPlenty), kFull);
}

TEST(MemoryAccount, ALevelEndsWhenATenthOfTheLimitIsFree) {
  const MemoryAccount account(1000);
  EXPECT_EQ(account.Level(701, kFull), kFull);
  EXPECT_EQ(account.Level(699, kFull), kTight);
  EXPECT_EQ(account.Level(501, kTight), kTight);
  EXPECT_EQ(account.Level(499, kTight), kPlenty);
}

TEST(MemoryAccount, FullEndsOnceTheExcessIsFreed) {
  const MemoryAccount account(1000);
  for (const int64_t held : {800, 850, 1200}) {
    EXPECT_EQ(account.Level(held - account.Excess(held), kFull), kTight) << held;
  }
}

TEST(MemoryAccount, CountsWhatElseIsHeld) {
  MemoryAccount account(1000);
  account.SetOther(500);
  EXPECT_EQ(account.Held(100), 600);
  EXPECT_EQ(account.Level(100, kPlenty), kTight);
  EXPECT_EQ(account.Free(100), 400);
  EXPECT_EQ(account.Free(900), 0);
  account.SetOther(-5);  // The two were not measured at one moment.
  EXPECT_EQ(account.Held(100), 100);
}

TEST(MemoryAccount, TakesAnotherLimit) {
  MemoryAccount account(1000);
  account.SetLimit(2000);
  EXPECT_EQ(account.limit(), 2000);
  EXPECT_EQ(account.Level(1100, kPlenty), kPlenty);
}

}  // namespace
}  // namespace levee
