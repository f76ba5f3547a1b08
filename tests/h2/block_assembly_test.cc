// SPDX-License-Identifier: Apache-2.0
// Header blocks out of frames, without a session.
#include "h2/block_assembly.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace levee::h2 {
namespace {

using Result = BlockAssembly::Result;

FrameHead Head(uint8_t flags) { return {.flags = flags, .stream_id = 5}; }

ByteSpan Span(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string BlockText(ByteSpan block) { return std::string(block.begin(), block.end()); }

TEST(BlockAssembly, ABlockMayComeInOneFrame) {
  BlockAssembly assembly(100);
  EXPECT_EQ(assembly.TakeHeaders(Head(kFlagEndHeaders | kFlagEndStream), Span("abc")),
            Result::kWhole);
  EXPECT_EQ(BlockText(assembly.block()), "abc");
  EXPECT_TRUE(assembly.ends_stream());
  EXPECT_EQ(assembly.open_stream(), 0u);
}

TEST(BlockAssembly, ABlockMayComeInSeveralFrames) {
  BlockAssembly assembly(100);
  EXPECT_EQ(assembly.TakeHeaders(Head(kFlagEndStream), Span("ab")), Result::kMore);
  EXPECT_EQ(assembly.open_stream(), 5u);
  EXPECT_EQ(assembly.TakeContinuation(Head(0), Span("cd")), Result::kMore);
  EXPECT_EQ(assembly.TakeContinuation(Head(kFlagEndHeaders), Span("ef")), Result::kWhole);
  EXPECT_EQ(BlockText(assembly.block()), "abcdef");
  EXPECT_TRUE(assembly.ends_stream());
  EXPECT_EQ(assembly.open_stream(), 0u);
  assembly.Clear();
  EXPECT_EQ(assembly.TakeHeaders(Head(0), Span("x")), Result::kMore);
  EXPECT_EQ(assembly.TakeContinuation(Head(kFlagEndHeaders), Span("y")), Result::kWhole);
  EXPECT_EQ(BlockText(assembly.block()), "xy");
  EXPECT_FALSE(assembly.ends_stream());
}

TEST(BlockAssembly, PaddingAndPriorityAreNoPartOfTheBlock) {
  BlockAssembly assembly(100);
  const std::string payload("\2prio!abc\0\0", 11);
  const FrameHead head = Head(kFlagEndHeaders | kFlagPadded | kFlagPriority);
  EXPECT_EQ(assembly.TakeHeaders(head, Span(payload)), Result::kWhole);
  EXPECT_EQ(BlockText(assembly.block()), "abc");
}

TEST(BlockAssembly, FlagsMustNotPromiseMoreThanThereIs) {
  BlockAssembly assembly(100);
  EXPECT_EQ(assembly.TakeHeaders(Head(kFlagEndHeaders | kFlagPadded), {}), Result::kTooShort);
  EXPECT_EQ(assembly.TakeHeaders(Head(kFlagEndHeaders | kFlagPriority), Span("1234")),
            Result::kTooShort);
  EXPECT_EQ(assembly.TakeHeaders(Head(kFlagEndHeaders | kFlagPadded), Span("\4abc")),
            Result::kBadPadding);
}

TEST(BlockAssembly, TheBoundIsOfAllFramesWithTheirHeads) {
  BlockAssembly one(10);
  EXPECT_EQ(one.TakeHeaders(Head(kFlagEndHeaders), Span("0123456789")), Result::kWhole);
  EXPECT_EQ(one.TakeHeaders(Head(kFlagEndHeaders), Span("0123456789a")), Result::kTooLong);
  BlockAssembly two(11);
  EXPECT_EQ(two.TakeHeaders(Head(0), Span("0")), Result::kMore);
  EXPECT_EQ(two.TakeContinuation(Head(0), Span("1")), Result::kMore);
  EXPECT_EQ(two.TakeContinuation(Head(0), {}), Result::kTooLong);
}

}  // namespace
}  // namespace levee::h2
