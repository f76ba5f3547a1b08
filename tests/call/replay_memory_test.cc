// SPDX-License-Identifier: Apache-2.0
#include "call/replay_memory.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr int64_t kUnit = ReplayLease::kUnit;

TEST(ReplayMemory, CountsWhatIsTakenAndGiven) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(100));
  EXPECT_TRUE(lease.Take(23));
  EXPECT_EQ(lease.used(), 123);
  lease.Give(100);
  EXPECT_EQ(lease.used(), 23);
}

TEST(ReplayMemory, GrantsTheLastByteAndNotOneMore) {
  ReplayMemory memory(2 * kUnit + 5);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(2 * kUnit));
  EXPECT_TRUE(lease.Take(5));
  EXPECT_FALSE(lease.Take(1));
}

TEST(ReplayMemory, ARefusalTakesNothing) {
  ReplayMemory memory(kUnit);
  ReplayLease lease(memory);
  EXPECT_FALSE(lease.Take(kUnit + 1));
  EXPECT_EQ(lease.used(), 0);
  EXPECT_TRUE(lease.Take(kUnit));
}

TEST(ReplayMemory, LessThanAUnitCanBeUsedUp) {
  ReplayMemory memory(10);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(4));
  EXPECT_TRUE(lease.Take(6));
  EXPECT_FALSE(lease.Take(1));
}

TEST(ReplayMemory, WithoutMemoryNothingIsGranted) {
  ReplayMemory memory(0);
  ReplayLease lease(memory);
  EXPECT_FALSE(lease.Take(1));
}

TEST(ReplayMemory, WorkersShareIt) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease first(memory), second(memory);
  EXPECT_TRUE(first.Take(3 * kUnit));
  EXPECT_FALSE(second.Take(kUnit + 1));
  EXPECT_TRUE(second.Take(kUnit));
}

TEST(ReplayMemory, WhatAWorkerGivesIsThereForOthersButForOneUnit) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease first(memory), second(memory);
  EXPECT_TRUE(first.Take(4 * kUnit));
  first.Give(4 * kUnit);
  EXPECT_TRUE(second.Take(3 * kUnit));
  EXPECT_FALSE(second.Take(1));
  EXPECT_TRUE(first.Take(kUnit));
}

TEST(ReplayMemory, AWorkerThatEndsReturnsItAll) {
  ReplayMemory memory(4 * kUnit);
  {
    ReplayLease first(memory);
    EXPECT_TRUE(first.Take(4 * kUnit));
    first.Give(4 * kUnit);
  }
  ReplayLease second(memory);
  EXPECT_TRUE(second.Take(4 * kUnit));
}

TEST(ReplayMemoryDeathTest, GivingMoreThanWasTakenEndsTheProcess) {
  ReplayMemory memory(kUnit);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(5));
  EXPECT_DEATH(lease.Give(6), "invariant broken");
}

// Takes and gives at random; never has more than `memory` granted in sum.
void Work(ReplayMemory& memory, std::atomic<int64_t>& granted, int64_t limit, uint64_t seed) {
  Random random(seed);
  ReplayLease lease(memory);
  std::vector<int64_t> taken;
  for (int i = 0; i < 20'000; ++i) {
    // More than a worker keeps, so that nearly every step touches the shared count.
    const auto bytes = static_cast<int64_t>(random.Below(4 * kUnit));
    if (random.Below(2) == 0 && lease.Take(bytes)) {
      EXPECT_LE(granted.fetch_add(bytes) + bytes, limit);
      taken.push_back(bytes);
    } else if (!taken.empty()) {
      granted.fetch_sub(taken.back());
      lease.Give(taken.back());
      taken.pop_back();
    }
  }
  for (int64_t bytes : taken) {
    granted.fetch_sub(bytes);
    lease.Give(bytes);
  }
  EXPECT_EQ(lease.used(), 0);
}

TEST(ReplayMemory, WorkersTogetherNeverExceedIt) {
  constexpr int64_t kBytes = 20 * kUnit + 77;
  ReplayMemory memory(kBytes);
  std::atomic<int64_t> granted = 0;
  std::vector<std::thread> workers;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    workers.emplace_back([&, seed] { Work(memory, granted, kBytes, seed); });
  }
  for (std::thread& worker : workers) worker.join();
  ReplayLease last(memory);
  EXPECT_TRUE(last.Take(kBytes));
  EXPECT_FALSE(last.Take(1));
}

}  // namespace
}  // namespace levee
