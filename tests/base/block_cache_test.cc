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
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t size = 0; size < 6000; size += 37) {
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

TEST(BlockCache, BlockMayBeFreedByAnotherThread) {
  void* block = AllocateBlock(100);
  std::thread([block] { FreeBlock(block); }).join();
}

}  // namespace
}  // namespace levee
