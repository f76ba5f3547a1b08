// SPDX-License-Identifier: Apache-2.0
#include "base/read_blocks.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(ReadBlocks, FillNoMemoryThatSomebodyStillReads) {
  ReadBlocks blocks(8);
  blocks.memory()[0] = 1;
  const Chunk kept = blocks.Filled(4).Slice(0, 1);
  blocks.memory()[0] = 2;
  EXPECT_EQ(kept.data()[0], 1);
  EXPECT_EQ(blocks.Filled(1).data()[0], 2);
}

TEST(ReadBlocks, UseTheirMemoryAgainOnceNobodyDoes) {
  ReadBlocks blocks(8);
  const uint8_t* memory = blocks.memory().data();
  { const Chunk passing = blocks.Filled(8); }
  EXPECT_EQ(blocks.memory().data(), memory);
}

TEST(ReadBlocks, ThatAreAllKeptAreNoMoreAndTheRestIsToBeCopied) {
  ReadBlocks blocks(8);
  std::set<const uint8_t*> memory;
  std::vector<Chunk> kept;
  for (int i = 0; i < 100; ++i) {
    memory.insert(blocks.memory().data());
    kept.push_back(blocks.Filled(8));
  }
  EXPECT_EQ(memory.size(), 17u);
  EXPECT_FALSE(kept[15].empty());
  EXPECT_TRUE(kept[16].empty());
  EXPECT_TRUE(kept[99].empty());
  kept[3] = Chunk();
  blocks.memory();
  EXPECT_FALSE(blocks.Filled(8).empty());
}

}  // namespace
}  // namespace levee
