// SPDX-License-Identifier: Apache-2.0
#include "h2/output_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/read_blocks.h"
#include "h2/session_pair.h"

namespace levee::h2 {
namespace {

void Write(OutputBuffer& out, std::string_view text) {
  std::copy(text.begin(), text.end(), out.end());
  out.Advance(text.size());
}

std::string PieceText(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<std::string> Pieces(OutputBuffer& out) {
  std::vector<std::string> pieces;
  for (ByteSpan piece : out.pieces()) pieces.push_back(PieceText(piece));
  return pieces;
}

using Texts = std::vector<std::string>;

const std::string kLarge(10'000, 'L');

TEST(OutputBuffer, WhatIsWrittenInARowIsOnePiece) {
  OutputBuffer out(OutputBuffer::kMinimum);
  Write(out, "head");
  out.Append(Bytes("small body"), 5);
  EXPECT_EQ(Pieces(out), Texts{"headsmall"});
  EXPECT_EQ(out.size(), 9u);
  EXPECT_EQ(out.room(), OutputBuffer::kMinimum - 9);
}

TEST(OutputBuffer, ALargeBodyStaysWhereItIs) {
  OutputBuffer out(OutputBuffer::kMinimum);
  const Chunk body = Bytes(kLarge);
  Write(out, "before");
  out.Append(body, 9000);
  Write(out, "behind");
  EXPECT_EQ(Pieces(out), (Texts{"before", kLarge.substr(0, 9000), "behind"}));
  EXPECT_EQ(out.pieces()[1].data(), body.data());
  EXPECT_EQ(out.size(), 9012u);
  EXPECT_EQ(out.room(), OutputBuffer::kMinimum - 9012);
}

TEST(OutputBuffer, ALargeBodyLivesUntilItIsCleared) {
  OutputBuffer out(OutputBuffer::kMinimum);
  ReadBlocks blocks(kLarge.size());
  const uint8_t* first = blocks.memory().data();
  out.Append(blocks.Filled(kLarge.size()), kLarge.size());
  EXPECT_NE(blocks.memory().data(), first);
  out.Clear();
  EXPECT_EQ(out.size(), 0u);
  EXPECT_EQ(Pieces(out), Texts{});
  EXPECT_EQ(blocks.memory().data(), first);
}

TEST(OutputBuffer, TheRestIsWhatTheKernelDidNotTake) {
  OutputBuffer out(OutputBuffer::kMinimum);
  const Chunk body = Bytes(kLarge);
  Write(out, "before");
  out.Append(body, kLarge.size());
  Write(out, "behind");
  const std::string all = "before" + kLarge + "behind";
  for (size_t taken : {0, 3, 6, 7, 10'005, 10'006, 10'007, 10'012}) {
    std::string rest;
    for (const Chunk& chunk : out.Rest(taken)) rest += PieceText(chunk.bytes());
    EXPECT_EQ(rest, all.substr(taken)) << taken;
  }
  const std::vector<Chunk> rest = out.Rest(7);
  EXPECT_EQ(rest[0].data(), body.data() + 1);
  out.Clear();
  Write(out, "overwritten");
  EXPECT_EQ(PieceText(rest[1].bytes()), "behind");
}

}  // namespace
}  // namespace levee::h2
