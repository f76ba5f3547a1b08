// SPDX-License-Identifier: Apache-2.0
// The rule by which owners of keys share a table, without the table.
#include "dedupe/key_shares.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>

#include "dedupe/dedupe_entry.h"

namespace levee {
namespace {

constexpr size_t kKiB = 1024;

class KeySharesTest : public testing::Test {
 protected:
  // The members go first.
  ~KeySharesTest() override {
    for (DedupeEntry& entry : entries_) {
      if (entry.stake.share != nullptr) shares_.Set(entry.stake, 0, false);
    }
  }

  DedupeEntry& Add(const KeyOwner& owner, size_t bytes, bool held = false) {
    DedupeEntry& entry = entries_.emplace_back(Sha256{});
    entry.stake.share = &shares_.Get(owner);
    shares_.Set(entry.stake, bytes, held);
    if (!held) entry.stake.share->idle.PushBack(entry);
    return entry;
  }

  KeyShares shares_;
  std::deque<DedupeEntry> entries_;
};

TEST_F(KeySharesTest, TheLargestOfThoseAboveTheirShareGivesWay) {
  Add({1}, 30 * kKiB);
  const DedupeEntry& largest = Add({2}, 40 * kKiB);
  Add({3}, 1 * kKiB);
  EXPECT_EQ(shares_.GivesWay(60 * kKiB), largest.stake.share);
}

TEST_F(KeySharesTest, TheLargestScopeOfTheLargestSenderGivesWay) {
  Add({1}, 45 * kKiB);
  Add({2, 1}, 20 * kKiB);
  const DedupeEntry& largest = Add({2, 2}, 30 * kKiB);
  Add({2, 3}, 1 * kKiB);
  EXPECT_EQ(shares_.GivesWay(80 * kKiB), largest.stake.share);
}

TEST_F(KeySharesTest, ASenderWithinItsShareKeepsAlsoALargeScope) {
  Add({1, 1}, 30 * kKiB);
  Add({1, 2}, 1 * kKiB);
  Add({2}, 60 * kKiB, /*held=*/true);
  EXPECT_EQ(shares_.GivesWay(80 * kKiB), nullptr);
  const DedupeEntry& more = Add({1, 1}, 15 * kKiB);
  EXPECT_EQ(shares_.GivesWay(80 * kKiB), more.stake.share);
}

TEST_F(KeySharesTest, WhatIsHeldDoesNotGiveWay) {
  Add({1}, 70 * kKiB, /*held=*/true);
  const DedupeEntry& idle = Add({2}, 41 * kKiB);
  EXPECT_EQ(shares_.GivesWay(80 * kKiB), idle.stake.share);
}

TEST_F(KeySharesTest, SixtyFourSendersHaveAShareOfTheirOwn) {
  for (uint64_t sender = 1; sender <= KeyShares::kOwn; ++sender) Add({sender}, kKiB);
  const KeySender* const rest = Add({100}, kKiB).stake.share->sender;
  EXPECT_EQ(Add({101}, kKiB).stake.share->sender, rest);
  const KeyShare* const known = Add({5}, kKiB).stake.share;
  EXPECT_EQ(Add({5}, kKiB).stake.share, known);
  EXPECT_NE(known->sender, rest);
}

TEST_F(KeySharesTest, NothingIsCountedOnceAllIsGivenUp) {
  std::deque<DedupeEntry*> all;
  for (uint64_t i = 0; i < 1000; ++i) all.push_back(&Add({i % 100, i % 7}, kKiB, i % 2 == 0));
  EXPECT_GT(shares_.bytes(), 1000 * kKiB);
  for (DedupeEntry* const entry : all) shares_.Set(entry->stake, 0, false);
  EXPECT_EQ(shares_.bytes(), 0u);
  EXPECT_TRUE(shares_.MayHold(Add({1}, 20 * kKiB).stake, 100 * kKiB)) << "nothing is held";
}

}  // namespace
}  // namespace levee
