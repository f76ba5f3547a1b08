// SPDX-License-Identifier: Apache-2.0
#include "h2/receiver.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/block_cache.h"
#include "wire/first_bytes.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// A slice keeps the whole chunk that was read at once in memory. That is worthwhile only if bodies
// fill most of the chunk.
constexpr size_t kLeastShared = 128 * 1024;

}  // namespace

Receiver::Receiver(const SessionOptions& options, Link& link, Ends& ends, ReceiveWindows& windows,
                   Sender& sender)
    : link_(link),
      messages_(options, link, ends, windows),
      control_(link, ends, windows, sender),
      preface_left_(link.server() ? kHttp2Preface.size() : 0) {}

void Receiver::Receive(ByteSpan bytes, const Chunk& shared) {
  const Chunk* const slices_of = shared.size() >= kLeastShared ? &shared : nullptr;
  const uint32_t open = messages_.open_block();
  const uint64_t before = frames_;
  if (TakePreface(bytes)) {
    for (;;) {
      const FrameReader::Event event = reader_.Next(bytes);
      if (event == FrameReader::Event::kNeedMore) break;
      ++frames_;
      Dispatch(event, slices_of);
      if (link_.broken() || BlocksUsedUp()) break;
    }
  }
  untaken_ = link_.broken() ? 0 : bytes.size();
  unfinished_anew_ = frames_ != before && (open == 0 || open != messages_.open_block());
}

bool Receiver::TakePreface(ByteSpan& bytes) {
  if (preface_left_ == 0) return true;
  const size_t size = std::min<size_t>(bytes.size(), preface_left_);
  const std::string_view left = kHttp2Preface.substr(kHttp2Preface.size() - preface_left_);
  if (std::memcmp(left.data(), bytes.data(), size) != 0) {
    link_.Fail(kResetProtocolError, "no HTTP/2 preface");
    return false;
  }
  bytes = bytes.subspan(size);
  preface_left_ -= static_cast<uint8_t>(size);
  return preface_left_ == 0;
}

void Receiver::Dispatch(FrameReader::Event event, const Chunk* slices_of) {
  const FrameHead& head = reader_.head();
  if (event == FrameReader::Event::kTooLong) {
    return link_.Fail(kResetFrameSizeError, "a frame above 16 KiB");
  }
  if (event == FrameReader::Event::kBadPadding) {
    return link_.Fail(kResetProtocolError, "more padding than frame");
  }
  if (!link_.peer_settings.received() && (!head.Is(FrameType::kSettings) || head.Has(kFlagAck))) {
    return link_.Fail(kResetProtocolError, "the first frame is not SETTINGS");
  }
  const uint32_t open = messages_.open_block();
  if (open != 0 && (!head.Is(FrameType::kContinuation) || head.stream_id != open)) {
    return link_.Fail(kResetProtocolError, "another frame within a header block");
  }
  if (event == FrameReader::Event::kData) return messages_.OnData(reader_, slices_of);
  if (head.Is(FrameType::kHeaders)) return messages_.OnHeaders(head, reader_.payload());
  if (head.Is(FrameType::kContinuation)) return messages_.OnContinuation(head, reader_.payload());
  control_.OnFrame(head, reader_.payload());
}

}  // namespace levee::h2
