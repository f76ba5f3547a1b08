// SPDX-License-Identifier: Apache-2.0
// Frames as they are written, without a session.
#include "h2/frame_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace levee::h2 {
namespace {

// Everything in `out` as "type/flags/stream/length" of each frame, and makes `out` empty.
std::string Frames(OutputBuffer& out) {
  std::vector<uint8_t> bytes;
  for (const ByteSpan piece : out.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  out.Clear();
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const FrameHead head = ReadFrameHead(bytes.data() + at);
    for (const uint32_t number : {uint32_t{head.type}, uint32_t{head.flags}, head.stream_id}) {
      text += std::to_string(number) + "/";
    }
    text += std::to_string(head.length) + " ";
    at += kFrameHeadBytes + head.length;
  }
  return text;
}

// One field with a value of so many bytes.
struct Fields : Metadata {
  explicit Fields(size_t bytes) { Add("x", std::string(bytes, '~')); }
};

TEST(FrameWriter, HeldFramesLeaveInTheirOrder) {
  FrameWriter writer;
  OutputBuffer out(OutputBuffer::kMinimum);
  writer.HoldSettings(std::vector<FrameWriter::Entry>{{Setting::kEnablePush, 0}});
  writer.HoldSettingsAck();
  writer.HoldReset(3, 8);
  writer.HoldWindowUpdate(0, 1);
  writer.HoldPing(kFlagAck, std::vector<uint8_t>(8));
  writer.HoldGoaway(7, 0, "why");
  EXPECT_TRUE(writer.holds());
  EXPECT_TRUE(writer.Drain(out));
  EXPECT_FALSE(writer.holds());
  EXPECT_EQ(writer.written(), out.size());
  EXPECT_EQ(Frames(out), "4/0/0/6 4/1/0/0 3/0/3/4 8/0/0/4 6/1/0/8 7/0/0/11 ");
}

TEST(FrameWriter, HeldFramesWaitForRoom) {
  FrameWriter writer;
  OutputBuffer out(OutputBuffer::kMinimum);
  const size_t frames = OutputBuffer::kMinimum / (kFrameHeadBytes + 4) + 1;
  for (size_t i = 0; i < frames; ++i) writer.HoldReset(1, 0);
  EXPECT_FALSE(writer.Drain(out));
  EXPECT_EQ(out.room(), 0u);
  out.Clear();
  EXPECT_TRUE(writer.Drain(out));
  EXPECT_EQ(writer.written(), frames * (kFrameHeadBytes + 4));
}

TEST(FrameWriter, ABlockThatSurelyFitsIsWrittenAtOnce) {
  FrameWriter writer;
  OutputBuffer out(OutputBuffer::kMinimum);
  EXPECT_TRUE(writer.WriteBlock(Fields(10), 5, true, out));
  EXPECT_FALSE(writer.holds());
  EXPECT_EQ(Frames(out).substr(0, 6), "1/5/5/");
}

TEST(FrameWriter, ABlockForWhichThereIsNoRoomChangesNothing) {
  FrameWriter writer;
  OutputBuffer out(OutputBuffer::kMinimum);
  EXPECT_TRUE(writer.WriteBlock(Fields(10'000), 1, true, out));
  const size_t size = out.size();
  EXPECT_FALSE(writer.WriteBlock(Fields(10'000), 3, true, out));
  EXPECT_FALSE(writer.holds());
  EXPECT_EQ(out.size(), size);
  EXPECT_EQ(writer.written(), size);
}

TEST(FrameWriter, ALongBlockIsHeldAsHeadersAndContinuations) {
  FrameWriter writer;
  OutputBuffer out(3 * OutputBuffer::kMinimum);
  EXPECT_TRUE(writer.WriteBlock(Fields(40'000), 5, true, out));
  EXPECT_TRUE(writer.holds());
  EXPECT_EQ(out.size(), 0u);
  EXPECT_TRUE(writer.Drain(out));
  EXPECT_EQ(Frames(out).substr(0, 28), "1/1/5/16384 9/0/5/16384 9/4/");
}

TEST(FrameWriter, TheBodyBehindADataHeadCountsAsWritten) {
  FrameWriter writer;
  OutputBuffer out(OutputBuffer::kMinimum);
  writer.WriteDataHead(5, 3, true, out);
  out.Append(Chunk::Copy(std::vector<uint8_t>(5)), 5);
  EXPECT_EQ(writer.written(), kFrameHeadBytes + 5);
  EXPECT_EQ(Frames(out), "0/1/3/5 ");
}

}  // namespace
}  // namespace levee::h2
