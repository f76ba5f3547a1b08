// SPDX-License-Identifier: Apache-2.0
#include "insight/store_record.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

StoreTotals Asked(const std::string& store, uint64_t requests) {
  StoreTotals totals;
  totals.store = store;
  totals.requests[StoreResult::kOk] = requests;
  totals.durations[3] = requests;
  return totals;
}

TEST(StoreRecord, KnowsNothingOfAStoreThatIsNotThere) {
  StoreRecord record;
  EXPECT_EQ(record.Read("shared").added.requests[StoreResult::kOk], 0);
  record.Update(1, {});
  record.Update(2, {});
  const StoreRecord::Past past = record.Read("shared");
  EXPECT_EQ(past.added.requests[StoreResult::kOk], 0);
  EXPECT_EQ(past.seconds, 1);
}

TEST(StoreRecord, CountsTheLastTenSecondsOnly) {
  StoreRecord record;
  for (uint32_t second = 1; second <= 30; ++second) {
    record.Update(second, {Asked("shared", 1000 + second * second)});
  }
  const StoreRecord::Past past = record.Read("shared");
  EXPECT_EQ(past.seconds, 10);
  EXPECT_EQ(past.added.requests[StoreResult::kOk], 30 * 30 - 20 * 20);
  EXPECT_EQ(past.added.durations[3], 30 * 30 - 20 * 20);
}

TEST(StoreRecord, DividesBySecondsThatWereLeftOut) {
  StoreRecord record;
  record.Update(1, {Asked("shared", 5)});
  record.Update(41, {Asked("shared", 25)});
  EXPECT_EQ(record.Read("shared").seconds, 40);
  EXPECT_EQ(record.Read("shared").added.requests[StoreResult::kOk], 20);
}

TEST(StoreRecord, ANewStoreCountsFromZero) {
  StoreRecord record;
  record.Update(1, {Asked("shared", 5)});
  record.Update(2, {Asked("shared", 5), Asked("other", 7)});
  EXPECT_EQ(record.Read("other").added.requests[StoreResult::kOk], 7);
  EXPECT_EQ(record.Read("shared").added.requests[StoreResult::kOk], 0);
}

TEST(StoreRecord, WhatWasCountedWhileNobodyLookedIsForgotten) {
  StoreRecord record;
  record.Update(1, {Asked("shared", 5)});
  record.Forget();
  record.Update(9, {Asked("shared", 500)});
  record.Update(10, {Asked("shared", 501)});
  EXPECT_EQ(record.Read("shared").added.requests[StoreResult::kOk], 1);
}

}  // namespace
}  // namespace levee
