#include "integration/frames.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

// What a peer takes that has not announced more (RFC 9113, section 6.5.2).
constexpr size_t kMaxFrame = 16'384;

std::string Number(uint32_t number, int bytes = 4) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(number >> shift);
  }
  return text;
}

// RFC 7541, section 5.1, with a prefix of 7 bits.
std::string StringLiteral(std::string_view text) {
  std::string literal;
  size_t size = text.size();
  if (size < 127) {
    literal += static_cast<char>(size);
  } else {
    literal += '\x7f';
    for (size -= 127; size >= 128; size /= 128) literal += static_cast<char>(0x80 | (size % 128));
    literal += static_cast<char>(size);
  }
  return literal.append(text);
}

}  // namespace

std::string Values(const HeaderList& fields, std::string_view name) {
  std::string joined;
  for (const auto& [field, value] : fields) {
    if (field == name) joined += (joined.empty() ? "" : ", ") + value;
  }
  return joined;
}

uint32_t ReadNumber(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = at; i < at + 4 && i < bytes.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

std::string Setting(SettingId id, uint32_t value) {
  return Number(static_cast<uint32_t>(id), 2) + Number(value);
}

std::string Padded(std::string_view data, uint8_t padding) {
  return static_cast<char>(padding) + std::string(data) + std::string(padding, '\0');
}

std::string Encode(const HeaderList& fields) {
  std::string block;
  // Literals that are not to be indexed (RFC 7541, section 6.2.2).
  for (const auto& [name, value] : fields) {
    block += '\0' + StringLiteral(name) + StringLiteral(value);
  }
  return block;
}

std::string GrpcMessage(std::string_view message, bool compressed) {
  return std::string(1, compressed ? '\1' : '\0') + Number(static_cast<uint32_t>(message.size())) +
         std::string(message);
}

void FramePeer::Init() {
  nghttp2_hd_inflater* inflater = nullptr;
  EXPECT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
  inflater_.reset(inflater);
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
  Frame frame;
  frame.type = static_cast<FrameType>(head[3]);
  frame.flags = static_cast<uint8_t>(head[4]);
  frame.stream = static_cast<int32_t>(ReadNumber(head, 5) & 0x7fffffff);
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
  } else if (frame.type == FrameType::kPing && !is_ack) {
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
  std::string frame = Number(static_cast<uint32_t>(payload.size()), 3);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  connection_.Send(frame + Number(static_cast<uint32_t>(stream)) + std::string(payload));
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

void FramePeer::WriteGoaway(int32_t last_stream, H2Error error) {
  Write(FrameType::kGoaway, 0, 0,
        Number(static_cast<uint32_t>(last_stream)) + Number(static_cast<uint32_t>(error)));
}

void FramePeer::WriteWindowUpdate(int32_t stream, uint32_t bytes) {
  Write(FrameType::kWindowUpdate, 0, stream, Number(bytes));
}

HeaderList FramePeer::Decode(const Frame& headers) {
  HeaderList fields;
  const auto* at = reinterpret_cast<const uint8_t*>(headers.payload.data());
  size_t left = headers.payload.size();
  for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
    nghttp2_nv field;
    const ssize_t used = nghttp2_hd_inflate_hd2(inflater_.get(), &field, &flags, at, left, 1);
    if (used < 0) {
      ADD_FAILURE() << "a header block that cannot be decoded";
      break;
    }
    at += used;
    left -= static_cast<size_t>(used);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
    fields.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.namelen),
                        std::string(reinterpret_cast<char*>(field.value), field.valuelen));
  }
  nghttp2_hd_inflate_end_headers(inflater_.get());
  return fields;
}

}  // namespace levee
