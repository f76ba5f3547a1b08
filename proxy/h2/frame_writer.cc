// SPDX-License-Identifier: Apache-2.0
#include "h2/frame_writer.h"

#include <algorithm>
#include <cstring>

#include "wire/first_bytes.h"

namespace levee::h2 {
namespace {

// When no frame is held any more, a buffer larger than this is freed.
constexpr size_t kHeldKept = 1024;

}  // namespace

uint8_t* FrameWriter::Hold(size_t payload, FrameType type, uint8_t flags, uint32_t id) {
  const size_t at = held_.size();
  held_.resize(at + kFrameHeadBytes + payload);
  return PutFrameHead(held_.data() + at, payload, type, flags, id);
}

void FrameWriter::HoldPreface() {
  held_.insert(held_.end(), kHttp2Preface.begin(), kHttp2Preface.end());
}

void FrameWriter::HoldSettings(std::span<const Entry> entries) {
  uint8_t* to = Hold(6 * entries.size(), FrameType::kSettings, 0, 0);
  for (const auto& [setting, value] : entries) {
    *to++ = 0;
    *to++ = static_cast<uint8_t>(setting);
    to = PutUint32(to, value);
  }
}

void FrameWriter::HoldPing(uint8_t flags, ByteSpan payload) {
  std::copy(payload.begin(), payload.end(), Hold(8, FrameType::kPing, flags, 0));
}

void FrameWriter::HoldReset(uint32_t id, uint32_t error_code) {
  PutUint32(Hold(4, FrameType::kRstStream, 0, id), error_code);
}

void FrameWriter::HoldWindowUpdate(uint32_t id, uint32_t bytes) {
  PutUint32(Hold(4, FrameType::kWindowUpdate, 0, id), bytes);
}

void FrameWriter::HoldGoaway(uint32_t last_id, uint32_t error_code, std::string_view text) {
  uint8_t* to = Hold(8 + text.size(), FrameType::kGoaway, 0, 0);
  to = PutUint32(PutUint32(to, last_id), error_code);
  std::copy(text.begin(), text.end(), to);
}

bool FrameWriter::Drain(OutputBuffer& out) {
  if (held_.empty()) return true;
  const size_t size = std::min(out.room(), held_.size() - held_sent_);
  std::memcpy(out.end(), held_.data() + held_sent_, size);
  Advance(out, size);
  held_sent_ += size;
  if (held_sent_ < held_.size()) return false;
  held_sent_ = 0;
  if (held_.capacity() > kHeldKept) {
    held_ = std::vector<uint8_t>();  // An assignment of {} would keep the memory.
  } else {
    held_.clear();
  }
  return true;
}

bool FrameWriter::WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out) {
  const size_t bound = hpack::Encoder::Bound(fields);
  if (bound > kMaxFrameBytes) {
    HoldBlock(fields, id, end);
    return true;
  }
  if (out.room() < kFrameHeadBytes + bound) return false;
  const size_t size = encoder_.Encode(fields, out.end() + kFrameHeadBytes);
  const uint8_t flags = kFlagEndHeaders | (end ? kFlagEndStream : 0);
  PutFrameHead(out.end(), size, FrameType::kHeaders, flags, id);
  Advance(out, kFrameHeadBytes + size);
  return true;
}

void FrameWriter::HoldBlock(const Metadata& fields, uint32_t id, bool end) {
  std::vector<uint8_t> block(hpack::Encoder::Bound(fields));
  block.resize(encoder_.Encode(fields, block.data()));
  FrameType type = FrameType::kHeaders;
  uint8_t flags = end ? kFlagEndStream : 0;
  for (size_t at = 0; at < block.size();) {
    const size_t size = std::min(kMaxFrameBytes, block.size() - at);
    if (at + size == block.size()) flags |= kFlagEndHeaders;
    std::memcpy(Hold(size, type, flags, id), block.data() + at, size);
    at += size;
    type = FrameType::kContinuation;
    flags = 0;
  }
}

}  // namespace levee::h2
