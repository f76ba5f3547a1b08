// SPDX-License-Identifier: Apache-2.0
#include "integration/frames.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

// The size that a peer takes if it has not announced more (RFC 9113, section 6.5.2).
constexpr size_t kMaxFrame = 16'384;

}  // namespace

std::string GrpcMessage(std::string_view message, bool compressed) {
  return std::string(1, compressed ? '\1' : '\0') + Number(static_cast<uint32_t>(message.size())) +
         std::string(message);
}

bool FramePeer::ReadExactly(size_t size, std::string& bytes) {
  bytes.clear();
  while (bytes.size() < size) {
    const std::string more = connection_.Read(size - bytes.size());
    if (more.empty()) return false;
    bytes += more;
  }
  return true;
}

std::optional<Frame> FramePeer::ReadFrame() {
  std::string head;
  if (!ReadExactly(9, head)) return std::nullopt;
  Frame frame = ParseFrameHead(head);
  if (!ReadExactly(ReadNumber(head) >> 8, frame.payload)) return std::nullopt;
  return frame;
}

std::optional<Frame> FramePeer::Read() {
  std::optional<Frame> frame = ReadFrame();
  if (!frame.has_value()) return std::nullopt;
  while (frame->type == FrameType::kHeaders && (frame->flags & kEndHeaders) == 0) {
    const std::optional<Frame> more = ReadFrame();
    if (!more.has_value()) return std::nullopt;
    EXPECT_EQ(more->type, FrameType::kContinuation);
    frame->payload += more->payload;
    frame->flags |= more->flags & kEndHeaders;
  }
  AnswerByItself(*frame);
  return frame;
}

void FramePeer::AnswerByItself(const Frame& frame) {
  const bool is_ack = (frame.flags & kAck) != 0;
  if (frame.type == FrameType::kSettings && !is_ack) {
    Write(FrameType::kSettings, kAck, 0, "");
  } else if (frame.type == FrameType::kPing && !is_ack && answers_pings_) {
    Write(FrameType::kPing, kAck, 0, frame.payload);
  } else if (frame.type == FrameType::kData && returns_windows_ && !frame.payload.empty()) {
    const auto size = static_cast<uint32_t>(frame.payload.size());
    WriteWindowUpdate(0, size);
    if (!frame.ends_stream()) WriteWindowUpdate(frame.stream, size);
  } else if (frame.type == FrameType::kWindowUpdate && frame.stream == 0) {
    connection_window_ += ReadNumber(frame.payload);
  }
}

std::optional<Frame> FramePeer::ReadMeaningful() {
  while (std::optional<Frame> frame = Read()) {
    const FrameType type = frame->type;
    if (type != FrameType::kSettings && type != FrameType::kPing &&
        type != FrameType::kWindowUpdate) {
      return frame;
    }
  }
  return std::nullopt;
}

std::string FramePeer::ReadSettled(int32_t stream) {
  std::string data;
  // Acknowledgements overtake DATA, so the first may come before what it is to be waited for.
  for (int round_trip = 0; round_trip < 2; ++round_trip) {
    Write(FrameType::kPing, 0, 0, "settled?");
    for (bool acknowledged = false; !acknowledged;) {
      const std::optional<Frame> frame = Read();
      if (!frame.has_value()) return data;
      if (frame->type == FrameType::kData && frame->stream == stream) data += frame->payload;
      if (frame->type == FrameType::kHeaders) Decode(*frame);
      acknowledged = frame->type == FrameType::kPing && (frame->flags & kAck) != 0;
    }
  }
  return data;
}

void FramePeer::Write(FrameType type, uint8_t flags, int32_t stream, std::string_view payload) {
  if (type == FrameType::kData) connection_window_ -= static_cast<int64_t>(payload.size());
  connection_.Send(FrameHead(payload.size(), type, flags, stream) + std::string(payload));
}

void FramePeer::WriteHeaders(int32_t stream, const HeaderList& fields, bool end) {
  const std::string block = Encode(fields);
  for (size_t at = 0; at == 0 || at < block.size(); at += kMaxFrame) {
    uint8_t flags = at + kMaxFrame >= block.size() ? kEndHeaders : 0;
    if (at == 0 && end) flags |= kEndStream;
    Write(at == 0 ? FrameType::kHeaders : FrameType::kContinuation, flags, stream,
          std::string_view(block).substr(at, kMaxFrame));
  }
}

void FramePeer::WriteData(int32_t stream, std::string_view data, bool end) {
  for (; data.size() > kMaxFrame; data.remove_prefix(kMaxFrame)) {
    Write(FrameType::kData, 0, stream, data.substr(0, kMaxFrame));
  }
  Write(FrameType::kData, end ? kEndStream : 0, stream, data);
}

void FramePeer::WriteReset(int32_t stream, H2Error error) {
  Write(FrameType::kReset, 0, stream, Number(static_cast<uint32_t>(error)));
}

void FramePeer::WriteGoaway(int32_t last_stream, H2Error error, const std::string& text) {
  Write(FrameType::kGoaway, 0, 0,
        Number(static_cast<uint32_t>(last_stream)) + Number(static_cast<uint32_t>(error)) + text);
}

void FramePeer::WriteWindowUpdate(int32_t stream, uint32_t bytes) {
  Write(FrameType::kWindowUpdate, 0, stream, Number(bytes));
}

HeaderList FramePeer::Decode(const Frame& headers) {
  std::optional<HeaderList> fields = fields_.Decode(headers.payload);
  EXPECT_TRUE(fields.has_value()) << "a header block that cannot be decoded";
  return std::move(fields).value_or(HeaderList());
}

}  // namespace levee
