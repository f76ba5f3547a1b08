// SPDX-License-Identifier: Apache-2.0
#include "h2/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace levee::h2 {
namespace {

ByteSpan Take(ByteSpan& bytes, size_t size) {
  const ByteSpan taken = bytes.first(size);
  bytes = bytes.subspan(size);
  return taken;
}

}  // namespace

FrameReader::Event FrameReader::Next(ByteSpan& bytes) {
  if (state_ == State::kHead) {
    if (!gathered_.empty()) gathered_ = std::vector<uint8_t>();  // Frees the memory.
    if (!TakeHead(bytes)) return Event::kNeedMore;
    if (head_.length > kMaxFrameBytes) return Event::kTooLong;
    if (!head_.Is(FrameType::kData)) {
      state_ = State::kPayload;
    } else {
      state_ = head_.Has(kFlagPadded) ? State::kPadLength : State::kBody;
      body_left_ = head_.length;
      padding_left_ = padding_bytes_ = 0;
      piece_seen_ = false;
    }
  }
  return state_ == State::kPayload ? TakePayload(bytes) : TakeBody(bytes);
}

bool FrameReader::TakeHead(ByteSpan& bytes) {
  if (head_size_ == 0 && bytes.size() >= kFrameHeadBytes) {
    head_ = ReadFrameHead(Take(bytes, kFrameHeadBytes).data());
    return true;
  }
  const ByteSpan part = Take(bytes, std::min(bytes.size(), kFrameHeadBytes - head_size_));
  std::copy(part.begin(), part.end(), head_bytes_ + head_size_);
  head_size_ += part.size();
  if (head_size_ < kFrameHeadBytes) return false;
  head_ = ReadFrameHead(head_bytes_);
  head_size_ = 0;
  return true;
}

FrameReader::Event FrameReader::TakePayload(ByteSpan& bytes) {
  if (gathered_.empty() && bytes.size() >= head_.length) {
    payload_ = Take(bytes, head_.length);
  } else {
    const ByteSpan part = Take(bytes, std::min(bytes.size(), head_.length - gathered_.size()));
    gathered_.insert(gathered_.end(), part.begin(), part.end());
    if (gathered_.size() < head_.length) return Event::kNeedMore;
    payload_ = gathered_;
  }
  state_ = State::kHead;
  return Event::kFrame;
}

FrameReader::Event FrameReader::TakeBody(ByteSpan& bytes) {
  if (state_ == State::kPadLength) {
    if (head_.length == 0) return Event::kBadPadding;
    if (bytes.empty()) return Event::kNeedMore;
    const size_t padding = Take(bytes, 1)[0];
    if (padding + 1 > head_.length) return Event::kBadPadding;
    body_left_ = head_.length - 1 - padding;
    padding_left_ = padding;
    padding_bytes_ = padding + 1;
    state_ = State::kBody;
  }
  payload_ = Take(bytes, std::min(bytes.size(), body_left_));
  body_left_ -= payload_.size();
  if (body_left_ == 0) {
    padding_left_ -= Take(bytes, std::min(bytes.size(), padding_left_)).size();
    if (padding_left_ == 0) state_ = State::kHead;
  }
  if (payload_.empty() && state_ != State::kHead) return Event::kNeedMore;
  first_piece_ = !std::exchange(piece_seen_, true);
  return Event::kData;
}

}  // namespace levee::h2
