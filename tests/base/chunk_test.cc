// SPDX-License-Identifier: Apache-2.0
#include "base/chunk.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

std::vector<uint8_t> Bytes(const Chunk& chunk) {
  return {chunk.bytes().begin(), chunk.bytes().end()};
}

TEST(Chunk, CopiesTheBytesItIsMadeOf) {
  std::array<uint8_t, 3> source = {1, 2, 3};
  const Chunk chunk = Chunk::Copy(source);
  source[0] = 9;
  EXPECT_EQ(chunk.size(), 3u);
  EXPECT_EQ(Bytes(chunk), (std::vector<uint8_t>{1, 2, 3}));
}

TEST(Chunk, AnEmptyOneOwnsNothing) {
  const Chunk chunk = Chunk::Copy({});
  EXPECT_TRUE(chunk.empty());
  EXPECT_EQ(chunk.size(), 0u);
  EXPECT_EQ(chunk.data(), nullptr);
  EXPECT_TRUE(Chunk().bytes().empty());
}

TEST(Chunk, CopiesShareTheBytes) {
  const std::array<uint8_t, 2> source = {1, 2};
  const Chunk chunk = Chunk::Copy(source);
  const Chunk copy = chunk;
  EXPECT_EQ(copy.data(), chunk.data());
}

TEST(Chunk, TheBytesLiveAsLongAsTheLastCopy) {
  const std::array<uint8_t, 2> source = {1, 2};
  Chunk last;
  {
    const Chunk first = Chunk::Copy(source);
    const Chunk second = first;
    last = second;
  }
  EXPECT_EQ(Bytes(last), (std::vector<uint8_t>{1, 2}));
}

TEST(Chunk, MovingLeavesTheSourceEmpty) {
  const std::array<uint8_t, 2> source = {1, 2};
  Chunk chunk = Chunk::Copy(source);
  const uint8_t* bytes = chunk.data();
  const Chunk moved = std::move(chunk);
  EXPECT_TRUE(chunk.empty());  // NOLINT(bugprone-use-after-move): that is what is tested.
  EXPECT_EQ(moved.data(), bytes);
}

TEST(Chunk, AssigningItselfKeepsTheBytes) {
  const std::array<uint8_t, 2> source = {1, 2};
  Chunk chunk = Chunk::Copy(source);
  const Chunk& same = chunk;
  chunk = same;
  EXPECT_EQ(Bytes(chunk), (std::vector<uint8_t>{1, 2}));
}

TEST(Chunk, AssigningReleasesWhatWasThere) {
  const std::array<uint8_t, 2> source = {1, 2};
  Chunk chunk = Chunk::Copy(source);
  const Chunk kept = chunk;
  chunk = Chunk();
  EXPECT_TRUE(chunk.empty());
  EXPECT_EQ(Bytes(kept), (std::vector<uint8_t>{1, 2}));
}

TEST(Chunk, HoldsALargeBody) {
  const std::vector<uint8_t> source(1 << 20, 0x5a);
  const Chunk chunk = Chunk::Copy(source);
  EXPECT_EQ(chunk.size(), source.size());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), chunk.data()));
}

TEST(Chunk, ASliceSharesTheBytesAndKeepsThem) {
  const std::array<uint8_t, 4> source = {1, 2, 3, 4};
  Chunk chunk = Chunk::Copy(source);
  const Chunk slice = chunk.Slice(1, 3).Slice(1, 1);
  EXPECT_EQ(slice.data(), chunk.data() + 2);
  chunk = Chunk();
  EXPECT_EQ(Bytes(slice), std::vector<uint8_t>{3});
}

TEST(Chunk, AnEmptySliceOwnsNothing) {
  const std::array<uint8_t, 2> source = {1, 2};
  EXPECT_EQ(Chunk::Copy(source).Slice(2, 0).data(), nullptr);
}

TEST(Chunk, LosesItsFrontUntilNothingIsLeft) {
  const std::array<uint8_t, 3> source = {1, 2, 3};
  Chunk chunk = Chunk::Copy(source);
  chunk.RemovePrefix(1);
  EXPECT_EQ(Bytes(chunk), (std::vector<uint8_t>{2, 3}));
  chunk.RemovePrefix(2);
  EXPECT_EQ(chunk.data(), nullptr);
}

TEST(AppendChunk, JoinsSingleBytesSoThatTheyTakeLittleMoreThanTheyHold) {
  std::vector<Chunk> list;
  for (int i = 0; i < 10'000; ++i) {
    const uint8_t byte = static_cast<uint8_t>(i);
    AppendChunk(list, Chunk::Copy({&byte, 1}));
  }
  EXPECT_LE(list.size(), 10u);
  int at = 0;
  for (const Chunk& chunk : list) {
    for (const uint8_t byte : chunk.bytes()) ASSERT_EQ(byte, static_cast<uint8_t>(at++));
  }
  EXPECT_EQ(at, 10'000);
}

TEST(AppendChunk, AddsNothingForAnEmptyChunk) {
  std::vector<Chunk> list;
  AppendChunk(list, Chunk());
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace levee
