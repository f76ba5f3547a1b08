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
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr uint64_t kSender = 1;

// Calls that each keep as many bytes as they can, in pieces, up to `most`. Returns the bytes that
// all of them keep.
int64_t Fill(ReplayLease& lease, uint64_t sender, int calls, int64_t most) {
  constexpr int64_t kPiece = 512;
  const int64_t before = lease.used();
  for (int call = 0; call < calls; ++call) {
    int64_t held = 0;
    while (held < most && lease.Take(sender, held, kPiece)) held += kPiece;
  }
  return lease.used() - before;
}

TEST(ReplayMemory, CountsWhatIsTakenAndGiven) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(kSender, 0, 100));
  EXPECT_TRUE(lease.Take(kSender, 0, 23));
  EXPECT_EQ(lease.used(), 123);
  lease.Give(kSender, 100);
  EXPECT_EQ(lease.used(), 23);
}

TEST(ReplayMemory, CallersThatKeepLittleCanUseUpTheLastByteAndNotOneMore) {
  constexpr int64_t kEach = ReplayLease::kSmallCaller;
  ReplayMemory memory(10 * kEach);
  ReplayLease lease(memory);
  for (uint64_t sender = 1; sender <= 10; ++sender) EXPECT_TRUE(lease.Take(sender, 0, kEach));
  EXPECT_FALSE(lease.Take(11, 0, 1));
}

TEST(ReplayMemory, ARefusalTakesNothing) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease lease(memory);
  EXPECT_FALSE(lease.Take(kSender, 0, 3 * kUnit + 1));
  EXPECT_EQ(lease.used(), 0);
  EXPECT_TRUE(lease.Take(kSender, 0, 3 * kUnit));
}

TEST(ReplayMemory, LessThanAUnitCanBeUsedUp) {
  ReplayMemory memory(10);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(kSender, 0, 4));
  EXPECT_TRUE(lease.Take(kSender, 0, 6));
  EXPECT_FALSE(lease.Take(kSender, 0, 1));
}

TEST(ReplayMemory, WithoutMemoryNothingIsGranted) {
  ReplayMemory memory(0);
  ReplayLease lease(memory);
  EXPECT_FALSE(lease.Take(kSender, 0, 1));
}

TEST(ReplayMemory, ALoneCallerCanHaveThreeQuarters) {
  ReplayMemory memory(16 * kMiB);
  ReplayLease lease(memory);
  for (int call = 0; call < 192; ++call) EXPECT_TRUE(lease.Take(kSender, 0, 64 * 1024));
  EXPECT_EQ(lease.used(), 12 * kMiB);
  EXPECT_FALSE(lease.Take(kSender, 0, 64 * 1024));
}

TEST(ReplayMemory, ManyWhoTakeAllThatTheyMayLeaveRoomForCallersThatKeepLittle) {
  ReplayMemory memory(16 * kMiB);
  ReplayLease first(memory), second(memory);
  for (uint64_t sender = 10; sender < 20; ++sender) {
    Fill(first, sender, 5000, 64 * 1024);
    Fill(second, sender, 5000, 64 * 1024);
  }
  for (uint64_t sender = 100; sender < 103; ++sender) {
    EXPECT_EQ(Fill(first, sender, 30, 2048), 30 * 2048);
    EXPECT_EQ(Fill(second, sender, 30, 2048), 30 * 2048);
  }
}

TEST(ReplayMemory, LargeRequestsLeaveRoomForTheSmallOnesOfTheSameCaller) {
  ReplayMemory memory(16 * kMiB);
  ReplayLease lease(memory);
  for (int call = 0; call < 300; ++call) lease.Take(kSender, 0, 64 * 1024);
  EXPECT_EQ(Fill(lease, kSender, 1000, 2048), 1000 * 2048);
}

TEST(ReplayMemory, WhatACallerGivesBackHeMayHaveAgain) {
  ReplayMemory memory(16 * kMiB);
  ReplayLease lease(memory);
  const int64_t taken = Fill(lease, kSender, 5000, 64 * 1024);
  EXPECT_FALSE(lease.Take(kSender, 0, kMiB));
  lease.Give(kSender, taken);
  EXPECT_EQ(Fill(lease, kSender, 5000, 64 * 1024), taken);
}

TEST(ReplayMemory, WorkersShareIt) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease first(memory), second(memory);
  EXPECT_TRUE(first.Take(kSender, 0, 3 * kUnit));
  EXPECT_FALSE(second.Take(kSender, 0, kUnit));
  EXPECT_TRUE(second.Take(kSender, 0, ReplayLease::kSmallCaller));
}

TEST(ReplayMemory, WhatAWorkerGivesIsThereForOthersButForOneUnit) {
  ReplayMemory memory(4 * kUnit);
  ReplayLease first(memory), second(memory);
  EXPECT_TRUE(first.Take(kSender, 0, 3 * kUnit));
  first.Give(kSender, 3 * kUnit);
  EXPECT_FALSE(second.Take(kSender, 0, 2 * kUnit + 1));
  EXPECT_TRUE(second.Take(kSender, 0, 2 * kUnit));
  EXPECT_TRUE(first.Take(kSender, 0, kUnit));
}

TEST(ReplayMemory, AWorkerThatEndsReturnsItAll) {
  ReplayMemory memory(4 * kUnit);
  {
    ReplayLease first(memory);
    EXPECT_TRUE(first.Take(kSender, 0, 3 * kUnit));
    first.Give(kSender, 3 * kUnit);
  }
  ReplayLease second(memory);
  EXPECT_TRUE(second.Take(kSender, 0, 3 * kUnit));
}

TEST(ReplayMemoryDeathTest, GivingMoreThanWasTakenEndsTheProcess) {
  ReplayMemory memory(kUnit);
  ReplayLease lease(memory);
  EXPECT_TRUE(lease.Take(kSender, 0, 5));
  EXPECT_DEATH(lease.Give(kSender, 6), "invariant broken");
}

// Takes and gives at random; never has more than `memory` granted in sum.
void Work(ReplayMemory& memory, std::atomic<int64_t>& granted, int64_t limit, uint64_t seed) {
  Random random(seed);
  ReplayLease lease(memory);
  std::vector<int64_t> taken;
  for (int i = 0; i < 20'000; ++i) {
    // More than a worker keeps, so that nearly every step touches the shared count.
    const auto bytes = static_cast<int64_t>(random.Below(4 * kUnit));
    if (random.Below(2) == 0 && lease.Take(kSender, 0, bytes)) {
      EXPECT_LE(granted.fetch_add(bytes) + bytes, limit);
      taken.push_back(bytes);
    } else if (!taken.empty()) {
      granted.fetch_sub(taken.back());
      lease.Give(kSender, taken.back());
      taken.pop_back();
    }
  }
  for (int64_t bytes : taken) {
    granted.fetch_sub(bytes);
    lease.Give(kSender, bytes);
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
  EXPECT_TRUE(last.Take(kSender, 0, kBytes * 3 / 4));
  EXPECT_FALSE(last.Take(kSender, 0, kBytes / 4));
}

}  // namespace
}  // namespace levee
