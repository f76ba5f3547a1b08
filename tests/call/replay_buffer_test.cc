// SPDX-License-Identifier: Apache-2.0
#include "call/replay_buffer.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr uint64_t kCaller = 1;

Chunk ToChunk(std::string_view text) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string Text(const ReplayBuffer& buffer) {
  std::string text;
  for (const Chunk& chunk : buffer.chunks())
    text.append(chunk.bytes().begin(), chunk.bytes().end());
  return text;
}

class ReplayBufferTest : public testing::Test {
 protected:
  ReplayMemory memory_{100};
  ReplayLease lease_{memory_};
};

TEST_F(ReplayBufferTest, KeepsTheBytesInOrder) {
  ReplayBuffer buffer(10, lease_, kCaller);
  EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.Add(ToChunk("def")), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(Text(buffer), "abcdef");
  EXPECT_EQ(buffer.held_bytes(), 6u);
  EXPECT_EQ(lease_.used(), 6);
}

TEST_F(ReplayBufferTest, SharesAChunkInsteadOfCopyingIt) {
  ReplayBuffer buffer(10, lease_, kCaller);
  const Chunk chunk = ToChunk("abc");
  EXPECT_EQ(buffer.Add(chunk), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.chunks()[0].data(), chunk.data());
}

TEST_F(ReplayBufferTest, SharesLargeChunksWhateverStandsBesideThem) {
  ReplayMemory memory(10'000);
  ReplayLease lease(memory);
  ReplayBuffer buffer(10'000, lease, kCaller);
  const Chunk large = ToChunk(std::string(1024, 'x'));
  for (const Chunk& chunk : {ToChunk("a"), large, ToChunk("b"), ToChunk("c"), large}) {
    EXPECT_EQ(buffer.Add(chunk), ReplayBuffer::Kept::kYes);
  }
  ASSERT_EQ(buffer.chunks().size(), 4u);
  EXPECT_EQ(buffer.chunks()[1].data(), large.data());
  EXPECT_EQ(buffer.chunks()[3].data(), large.data());
  EXPECT_EQ(Text(buffer), "a" + std::string(1024, 'x') + "bc" + std::string(1024, 'x'));
}

TEST_F(ReplayBufferTest, SingleBytesTakeFewChunks) {
  ReplayMemory memory(64 * 1024);
  ReplayLease lease(memory);
  ReplayBuffer buffer(64 * 1024, lease, kCaller);
  std::string sent;
  for (int i = 0; i < 64 * 1024; ++i) {
    sent.push_back(static_cast<char>('a' + i % 26));
    ASSERT_EQ(buffer.Add(ToChunk(sent.substr(sent.size() - 1))), ReplayBuffer::Kept::kYes);
  }
  EXPECT_EQ(buffer.chunks().size(), 64u);
  EXPECT_EQ(Text(buffer), sent);
}

TEST_F(ReplayBufferTest, JoiningLeavesWhatIsBeingSentAlone) {
  ReplayBuffer buffer(10, lease_, kCaller);
  const Chunk sent = ToChunk("abc");
  EXPECT_EQ(buffer.Add(sent), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.Add(ToChunk("def")), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(std::string(sent.bytes().begin(), sent.bytes().end()), "abc");
}

TEST_F(ReplayBufferTest, KeepsUpToItsLimit) {
  ReplayBuffer buffer(6, lease_, kCaller);
  EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.Add(ToChunk("def")), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.Add(ToChunk("g")), ReplayBuffer::Kept::kOverLimit);
  EXPECT_EQ(Text(buffer), "abcdef");
  EXPECT_EQ(lease_.used(), 6);
}

TEST_F(ReplayBufferTest, WithoutALimitToSpeakOfNothingIsKept) {
  ReplayBuffer buffer(0, lease_, kCaller);
  EXPECT_EQ(buffer.Add(Chunk()), ReplayBuffer::Kept::kYes);
  EXPECT_EQ(buffer.Add(ToChunk("a")), ReplayBuffer::Kept::kOverLimit);
}

TEST_F(ReplayBufferTest, SaysWhenTheMemoryOfAllCallsIsUsedUp) {
  ReplayBuffer large(200, lease_, kCaller);
  EXPECT_EQ(large.Add(ToChunk(std::string(90, 'x'))), ReplayBuffer::Kept::kYes);
  ReplayBuffer buffer(200, lease_, kCaller);
  EXPECT_EQ(buffer.Add(ToChunk(std::string(11, 'x'))), ReplayBuffer::Kept::kNoMemory);
  EXPECT_EQ(buffer.Add(ToChunk(std::string(10, 'x'))), ReplayBuffer::Kept::kYes);
}

TEST_F(ReplayBufferTest, AnEmptyChunkTakesNoPlace) {
  ReplayBuffer buffer(10, lease_, kCaller);
  EXPECT_EQ(buffer.Add(Chunk()), ReplayBuffer::Kept::kYes);
  EXPECT_TRUE(buffer.chunks().empty());
}

TEST_F(ReplayBufferTest, WhatIsPendingFollowsAndIsHeldButNotLeased) {
  ReplayBuffer buffer(4, lease_, kCaller);
  EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
  buffer.AddPending(ToChunk("defgh"));
  EXPECT_EQ(Text(buffer), "abcdefgh");
  EXPECT_EQ(buffer.held_bytes(), 8u);
  EXPECT_EQ(lease_.used(), 3);
  buffer.Clear();
  EXPECT_EQ(buffer.held_bytes(), 0u);
}

TEST_F(ReplayBufferTest, ClearingReturnsTheMemory) {
  ReplayBuffer buffer(10, lease_, kCaller);
  EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
  buffer.AddPending(ToChunk("defgh"));
  buffer.Clear();
  buffer.Clear();
  EXPECT_TRUE(buffer.chunks().empty());
  EXPECT_EQ(lease_.used(), 0);
}

TEST_F(ReplayBufferTest, DestroyingReturnsTheMemory) {
  {
    ReplayBuffer buffer(10, lease_, kCaller);
    EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
  }
  EXPECT_EQ(lease_.used(), 0);
}

TEST_F(ReplayBufferTest, ChunksOutliveTheBuffer) {
  Chunk shared;
  {
    ReplayBuffer buffer(10, lease_, kCaller);
    EXPECT_EQ(buffer.Add(ToChunk("abc")), ReplayBuffer::Kept::kYes);
    shared = buffer.chunks()[0];
  }
  EXPECT_EQ(std::string(shared.bytes().begin(), shared.bytes().end()), "abc");
}

}  // namespace
}  // namespace levee
