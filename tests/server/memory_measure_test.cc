// SPDX-License-Identifier: Apache-2.0
// What malloc keeps of blocks that were freed, in the account of memory.
#include "server/memory_measure.h"

#include <cstring>
#include <thread>
#include <vector>

#include "base/block_cache.h"
#include "gtest/gtest.h"
#include "net/memory_limit.h"

namespace levee {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr size_t kBlock = 16 << 10;
constexpr size_t kBlocks = 64 * kMiB / kBlock;

// Blocks of a thread of their own, of which it frees every second one: 32 MiB.
class HalfFreed {
 public:
  HalfFreed() {
    std::thread([this] {
      std::vector<void*> freed;
      for (size_t i = 0; i < kBlocks; ++i) {
        void* const block = AllocateBlock(kBlock);
        std::memset(block, 1, kBlock);
        (i % 2 == 0 ? freed : kept_).push_back(block);
      }
      for (void* const block : freed) FreeBlock(block);
      ReleaseFreeBlocks();
    }).join();
  }
  ~HalfFreed() {
    for (void* const block : kept_) FreeBlock(block);
    ReleaseFreeBlocks();
  }
  HalfFreed(const HalfFreed&) = delete;
  HalfFreed& operator=(const HalfFreed&) = delete;

 private:
  std::vector<void*> kept_;
};

// Bytes that the process holds and the account does not have.
int64_t Unknown(const MemoryAccount& account) {
  return net::OwnBytes() - account.Held(AllocatedBlockBytes());
}

TEST(MemoryMeasure, WhatAnotherThreadHasFreedIsGivenBackWhereMuchIsHeld) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer keeps what is freed";
  MemoryAccount account(96 * kMiB);
  MeasureMemory(account);
  const HalfFreed blocks;
  EXPECT_GT(Unknown(account), 28 * kMiB);
  MeasureFreedMemory(account);
  EXPECT_LT(Unknown(account), 4 * kMiB);
  EXPECT_LT(net::OwnBytes() - AllocatedBlockBytes(), 16 * kMiB);
}

// Which is far from being much for the account, and is what nobody needs soon.
TEST(MemoryMeasure, WhatABurstHasLeftIsGivenBackWhereLittleIsHeld) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer keeps what is freed";
  MemoryAccount account(400 * kMiB);
  MeasureMemory(account);
  const HalfFreed blocks;  // It keeps 32 MiB, of which a 16th of the limit is less.
  MeasureMemory(account);
  EXPECT_LT(net::OwnBytes() - AllocatedBlockBytes(), 16 * kMiB);
}

TEST(MemoryMeasure, WhatIsKeptStaysWhereItIsNoSixteenthOfTheLimit) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer keeps what is freed";
  MemoryAccount account(1600 * kMiB);
  MeasureMemory(account);
  const HalfFreed blocks;
  MeasureMemory(account);
  EXPECT_GT(net::OwnBytes() - AllocatedBlockBytes(), 24 * kMiB);
  // Unless the blocks of a thread have come back because somebody else keeps much.
  account.SetBlocksAreBack();
  MeasureMemory(account);
  EXPECT_LT(net::OwnBytes() - AllocatedBlockBytes(), 16 * kMiB);
}

TEST(MemoryMeasure, WhereLittleIsHeldNothingIsMeasured) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer keeps what is freed";
  MemoryAccount account(4096 * kMiB);
  MeasureMemory(account);
  const HalfFreed blocks;
  const int64_t held = account.Held(0);
  MeasureFreedMemory(account);
  EXPECT_EQ(account.Held(0), held);
}

}  // namespace
}  // namespace levee
