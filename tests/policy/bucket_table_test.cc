// SPDX-License-Identifier: Apache-2.0
// The buckets of a keyed limit: their bound, and who makes room when it is reached.
#include "policy/bucket_table.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policy/adaptive_bucket.h"
#include "policy/times.h"

namespace levee {
namespace {

std::string Key(int i) { return absl::StrCat("key ", i); }

// How many permits in a row are granted to `key`.
template <typename Table>
int Drain(Table& table, const std::string& key, Instant now) {
  int taken = 0;
  while (table.Take(key, now, kNoWait).granted) ++taken;
  return taken;
}

TEST(BucketTable, EachKeyHasItsOwnBucket) {
  BucketTable<Gcra> table(GcraRate(1, 3), 10);
  EXPECT_EQ(Drain(table, "a", At(0)), 3);
  EXPECT_EQ(Drain(table, "b", At(0)), 3);
  EXPECT_EQ(Drain(table, "a", At(1)), 1);
}

TEST(BucketTable, WithoutKeysAllShareABucketAndThatIsNoHit) {
  BucketTable<Gcra> table(GcraRate(1, 3), 0);
  EXPECT_FALSE(table.Take("a", At(0), kNoWait).shared_bucket);
  EXPECT_EQ(Drain(table, "b", At(0)), 2);
}

TEST(BucketTable, A77_AFullTableNeverResetsABusyKey) {
  BucketTable<Gcra> table(GcraRate(1, 3), 2);
  Drain(table, "a", At(0));
  Drain(table, "b", At(0));
  for (int i = 0; i < 1000; ++i) table.Take(Key(i), At(0.5), kNoWait);
  EXPECT_EQ(Drain(table, "a", At(1)), 1);
  EXPECT_EQ(Drain(table, "b", At(1)), 1);
}

TEST(BucketTable, A77_KeysWithoutRoomShareOneBucketAndSaySo) {
  BucketTable<Gcra> table(GcraRate(1, 3), 2);
  EXPECT_FALSE(table.Take("a", At(0), kNoWait).shared_bucket);
  EXPECT_FALSE(table.Take("b", At(0), kNoWait).shared_bucket);
  EXPECT_TRUE(table.Take("c", At(0), kNoWait).shared_bucket);
  EXPECT_TRUE(table.Take("d", At(0), kNoWait).granted);
  EXPECT_TRUE(table.Take("e", At(0), kNoWait).granted);
  const RatePermit refused = table.Take("f", At(0), kNoWait);
  EXPECT_FALSE(refused.granted);
  EXPECT_TRUE(refused.shared_bucket);
  EXPECT_EQ(refused.wait, absl::Seconds(1));
}

TEST(BucketTable, A77_AnIdleBucketMakesRoom) {
  BucketTable<Gcra> table(GcraRate(1, 3), 2);
  table.Take("a", At(0), kNoWait);
  Drain(table, "b", At(0));
  EXPECT_TRUE(table.Take("c", At(1) - absl::Nanoseconds(1), kNoWait).shared_bucket);
  EXPECT_FALSE(table.Take("c", At(1), kNoWait).shared_bucket);
  EXPECT_TRUE(table.Take("a", At(1), kNoWait).shared_bucket);
  EXPECT_EQ(Drain(table, "b", At(1)), 1);
}

TEST(BucketTable, TheLeastRecentlyUsedAreLookedAtFirst) {
  BucketTable<Gcra> table(GcraRate(1, 100), 5);
  table.Check("idle", At(0), kNoWait);
  for (int i = 0; i < 4; ++i) Drain(table, Key(i), At(0));
  table.Check("idle", At(0), kNoWait);  // behind the four busy ones
  EXPECT_TRUE(table.Take("new", At(0), kNoWait).shared_bucket);
  EXPECT_FALSE(table.Take("new", At(0), kNoWait).shared_bucket);
}

TEST(BucketTable, AnIdleBucketBehindBusyOnesIsFoundInTheEnd) {
  BucketTable<Gcra> table(GcraRate(1, 100), 20);
  for (int i = 0; i < 19; ++i) Drain(table, Key(i), At(0));
  table.Take(Key(19), At(0), kNoWait);
  int shared = 0;
  while (table.Take("new", At(1), kNoWait).shared_bucket) ASSERT_LT(++shared, 5);
  EXPECT_EQ(shared, 4);  // 4 x 4 busy ones are looked at first
}

TEST(BucketTable, TheBoundIsExactInAStripedTable) {
  BucketTable<Gcra> table(GcraRate(1, 1), 10'000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_FALSE(table.Take(Key(i), At(0), kNoWait).shared_bucket) << i;
  }
  for (int i = 10'000; i < 10'100; ++i) {
    ASSERT_TRUE(table.Take(Key(i), At(0), kNoWait).shared_bucket) << i;
  }
}

TEST(BucketTable, AFullTableThatIsIdleTakesInAnyNumberOfKeys) {
  BucketTable<Gcra> table(GcraRate(1, 1), 2'048);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_FALSE(table.Take(Key(i), At(i), kNoWait).shared_bucket) << i;
  }
}

TEST(BucketTable, LongKeysHaveBucketsOfTheirOwn) {
  BucketTable<Gcra> table(GcraRate(1, 1), 10);
  const std::string begin(1000, 'k');
  EXPECT_EQ(Drain(table, begin + "a", At(0)), 1);
  EXPECT_EQ(Drain(table, begin + "b", At(0)), 1);
  EXPECT_EQ(Drain(table, begin + "a", At(0)), 0);
}

TEST(BucketTable, ReturnGoesToTheBucketThatGranted) {
  BucketTable<Gcra> table(GcraRate(1, 1), 1);
  table.Return("a", table.Take("a", At(0), kNoWait));
  EXPECT_EQ(Drain(table, "a", At(0)), 1);
  const RatePermit shared = table.Take("b", At(0), kNoWait);
  EXPECT_TRUE(table.Take("b", At(1), kNoWait).granted);  // now in a's place
  table.Return("b", shared);
  EXPECT_EQ(Drain(table, "b", At(1)), 0);
  EXPECT_EQ(Drain(table, "c", At(0)), 1);  // the shared one
}

TEST(BucketTable, ReturnToAKeyThatHasMadeRoomDoesNothing) {
  BucketTable<Gcra> table(GcraRate(1, 1), 1);
  const RatePermit permit = table.Take("a", At(0), kNoWait);
  table.Take("b", At(1), kNoWait);
  table.Return("a", permit);
  EXPECT_EQ(Drain(table, "b", At(1)), 0);
  EXPECT_EQ(Drain(table, "a", At(1)), 1);  // the shared one
}

TEST(BucketTable, A77_AKeyWhoseRateIsLoweredIsBusy) {
  BucketTable<AdaptiveBucket> table({1000, 10}, 1);
  table.Take("a", At(10), kNoWait);
  table.OnOverloaded("a", At(10), At(10.1));
  EXPECT_TRUE(table.Take("b", At(13), kNoWait).shared_bucket);
  EXPECT_FALSE(table.Take("b", At(60), kNoWait).shared_bucket);
}

}  // namespace
}  // namespace levee
