// SPDX-License-Identifier: Apache-2.0
#include "base/block_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace levee {
namespace {

TEST(BlockCache, BlocksOfEverySizeAreAlignedAndDoNotOverlap) {
  std::vector<size_t> sizes;
  for (size_t size = 0; size < 6000; size += 37) sizes.push_back(size);
  for (size_t size = 8192; size <= 70 << 10; size += 1024) {
    sizes.insert(sizes.end(), {size - 1, size, size + 1});
  }
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t size : sizes) {
    auto* block = static_cast<char*>(AllocateBlock(size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
    std::memset(block, static_cast<int>(size % 251), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) {
    EXPECT_EQ(std::string(block, size), std::string(size, static_cast<char>(size % 251)));
    FreeBlock(block);
  }
}

TEST(BlockCache, ResizingKeepsTheBytes) {
  auto* block = static_cast<char*>(AllocateBlock(5));
  std::memcpy(block, "12345", 5);
  block = static_cast<char*>(ResizeBlock(block, 5000));
  EXPECT_EQ(std::string(block, 5), "12345");
  block = static_cast<char*>(ResizeBlock(block, 3));
  EXPECT_EQ(std::string(block, 3), "123");
  FreeBlock(block);
  FreeBlock(ResizeBlock(nullptr, 10));
  FreeBlock(nullptr);
}

TEST(BlockCache, LargeBlocksAreUsedAgain) {
  for (const size_t size : {size_t{5000}, size_t{20'000}, size_t{65'536}}) {
    void* first = AllocateBlock(size);
    FreeBlock(first);
    void* second = AllocateBlock(size - 100);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_EQ(first, second) << size;
#endif
    FreeBlock(second);
  }
}

TEST(BlockCache, BlockMayBeFreedByAnotherThread) {
  void* block = AllocateBlock(100);
  std::thread([block] { FreeBlock(block); }).join();
}

TEST(BlockCache, CountsTheBytesOfAllBlocksUntilTheyAreReleased) {
  ReleaseFreeBlocks();
  const int64_t before = AllocatedBlockBytes();
  const int64_t freed = FreedBlockBytes();
  void* const small = AllocateBlock(1000);
  void* const large = AllocateBlock(100'000);
  EXPECT_GE(AllocatedBlockBytes(), before + 101'000);
  EXPECT_LE(AllocatedBlockBytes(), before + 104'000);
  EXPECT_EQ(FreedBlockBytes(), freed);
  std::thread([&] { FreeBlock(large); }).join();
  FreeBlock(small);  // It may stay in a free list.
  ReleaseFreeBlocks();
  EXPECT_EQ(AllocatedBlockBytes(), before);
  EXPECT_GE(FreedBlockBytes(), freed + 101'000);
}

}  // namespace
}  // namespace levee
