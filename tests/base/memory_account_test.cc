// SPDX-License-Identifier: Apache-2.0
#include "base/memory_account.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

constexpr auto kPlenty = MemoryLevel::kPlenty;
constexpr auto kTight = MemoryLevel::kTight;
constexpr auto kFull = MemoryLevel::kFull;
constexpr auto kExhausted = MemoryLevel::kExhausted;

TEST(MemoryAccount, IsTightFromSixTenthsOnFullFromEightAndExhaustedFromNine) {
  const MemoryAccount account(1000);
  EXPECT_EQ(account.Level(599, kPlenty), kPlenty);
  EXPECT_EQ(account.Level(600, kPlenty), kTight);
  EXPECT_EQ(account.Level(799, kTight), kTight);
  EXPECT_EQ(account.Level(800, kPlenty), kFull);
  EXPECT_EQ(account.Level(899, kPlenty), kFull);
  EXPECT_EQ(account.Level(900, kPlenty), kExhausted);
  EXPECT_EQ(account.Level(5000, kPlenty), kExhausted);
}

TEST(MemoryAccount, ALevelEndsWhenATenthOfTheLimitIsFree) {
  const MemoryAccount account(1000);
  EXPECT_EQ(account.Level(701, kFull), kFull);
  EXPECT_EQ(account.Level(699, kFull), kTight);
  EXPECT_EQ(account.Level(501, kTight), kTight);
  EXPECT_EQ(account.Level(499, kTight), kPlenty);
}

TEST(MemoryAccount, ExhaustedEndsAtOnceSoThatNobodyIsRefusedForLong) {
  const MemoryAccount account(1000);
  EXPECT_EQ(account.Level(899, kExhausted), kFull);
  EXPECT_LT(account.Level(950 - account.ExcessOfAll(950), kExhausted), kExhausted);
  EXPECT_LE(account.ExcessOfAll(899), 0);
}

TEST(MemoryAccount, MuchIsMoreThanHalfOfTheAverage) {
  const MemoryAccount account(64 << 20);
  EXPECT_EQ(account.Much(40 << 20, 40), 512u << 10);
  // A 64th of the limit is much for anybody, and 64 KiB for nobody.
  EXPECT_EQ(account.Much(40 << 20, 2), 1u << 20);
  EXPECT_EQ(account.Much(40 << 20, 4000), 64u << 10);
  EXPECT_EQ(account.Much(0, 0), 64u << 10);
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

TEST(MemoryAccount, MustBeMeasuredOnceMuchIsFreedWhereMuchIsHeld) {
  MemoryAccount account(1600);
  account.SetOther(200);
  // Six tenths of the limit are held together with what was freed.
  EXPECT_FALSE(account.MustMeasure(600, 99));
  EXPECT_FALSE(account.MustMeasure(600, 159));
  EXPECT_TRUE(account.MustMeasure(600, 160));
  EXPECT_FALSE(account.MustMeasure(600, 160));
  EXPECT_FALSE(account.MustMeasure(1000, 259));
  EXPECT_TRUE(account.MustMeasure(1000, 260));
}

TEST(MemoryAccount, WantsBackWhatIsKeptASixteenthOfTheLimitAboveTheLeast) {
  MemoryAccount account(1600);
  EXPECT_FALSE(account.MustGiveBack(100, 0));
  EXPECT_EQ(account.wanted_back(), 0);
  EXPECT_TRUE(account.MustGiveBack(101, 0));
  EXPECT_EQ(account.wanted_back(), 1);  // Whoever has free blocks sees that it changes.
  account.SetKept(80, 0);
  EXPECT_FALSE(account.MustGiveBack(180, 0));
  EXPECT_FALSE(account.MustGiveBack(30, 0));  // It is the least now.
  EXPECT_TRUE(account.MustGiveBack(131, 0));
  EXPECT_EQ(account.wanted_back(), 2);
}

TEST(MemoryAccount, WantsBackAnEighthOfTheLimitOnceMuchWasFreedSince) {
  MemoryAccount account(1600);
  account.SetKept(300, 5000);
  EXPECT_FALSE(account.MustGiveBack(300, 5100));
  EXPECT_TRUE(account.MustGiveBack(300, 5101));
  account.SetKept(200, 5101);
  EXPECT_FALSE(account.MustGiveBack(200, 9000));  // That is little.
}

TEST(MemoryAccount, WantsBackAnEighthOfTheLimitOnceMoreTenMeasuresLater) {
  MemoryAccount account(1600);
  EXPECT_TRUE(account.MustGiveBack(900, 0));
  account.SetKept(400, 0);
  for (int i = 1; i < MemoryAccount::kLater; ++i) EXPECT_FALSE(account.MustGiveBack(450, 50)) << i;
  EXPECT_TRUE(account.MustGiveBack(450, 50));
  EXPECT_EQ(account.wanted_back(), 2);
  account.SetKept(400, 50);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(account.MustGiveBack(400, 50)) << i;
}

TEST(MemoryAccount, WantsNothingBackLaterWhereLittleIsKept) {
  MemoryAccount account(1600);
  EXPECT_TRUE(account.MustGiveBack(900, 0));
  account.SetKept(150, 0);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(account.MustGiveBack(200, 0)) << i;
}

TEST(MemoryAccount, TellsOnceThatBlocksAreBack) {
  MemoryAccount account(1600);
  EXPECT_FALSE(account.TakeBlocksAreBack());
  account.SetBlocksAreBack();
  EXPECT_TRUE(account.TakeBlocksAreBack());
  EXPECT_FALSE(account.TakeBlocksAreBack());
}

TEST(MemoryAccount, TakesAnotherLimit) {
  MemoryAccount account(1000);
  account.SetLimit(2000);
  EXPECT_EQ(account.limit(), 2000);
  EXPECT_EQ(account.Level(1100, kPlenty), kPlenty);
}

}  // namespace
}  // namespace levee
