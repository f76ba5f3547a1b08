// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/call_count.h"

#include <algorithm>
#include <string_view>

#include "h2/frame.h"

namespace levee {
namespace {

using h2::FrameType;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool IsPingOrSettings(const h2::FrameHead& head) {
  return head.Is(FrameType::kPing) || head.Is(FrameType::kSettings);
}

bool IsToBeAnswered(const h2::FrameHead& head) {
  return IsPingOrSettings(head) && !head.Has(h2::kFlagAck);
}

}  // namespace

size_t CallCount::PassPreface(ByteSpan bytes) {
  const size_t size = std::min(bytes.size(), kPreface.size() - preface_);
  const std::string_view expected = kPreface.substr(preface_, size);
  is_other_protocol_ = !std::equal(expected.begin(), expected.end(), bytes.begin(),
                                   [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
  preface_ += size;
  return is_other_protocol_ ? 0 : size;
}

size_t CallCount::Pass(ByteSpan bytes, size_t room) {
  wants_room_ = false;
  size_t passed = is_other_protocol_ ? 0 : PassPreface(bytes);
  while (!is_other_protocol_) {
    const size_t size = std::min(payload_, bytes.size() - passed);
    payload_ -= size;
    passed += size;
    if (bytes.size() - passed < h2::kFrameHeadBytes) return passed;
    const uint8_t* const head = bytes.data() + passed;
    if (!MayPass(head, room)) return passed;
    passed += h2::kFrameHeadBytes;
    payload_ = h2::ReadFrameHead(head).length;
  }
  return passed;
}

// Counts the frame if it may pass.
bool CallCount::MayPass(const uint8_t* bytes, size_t& room) {
  const h2::FrameHead head = h2::ReadFrameHead(bytes);
  if (IsToBeAnswered(head)) {
    if (unanswered_ >= kMostUnanswered) return false;
    ++unanswered_;
  }
  if (head.Is(FrameType::kHeaders) && head.stream_id > last_stream_) {
    wants_room_ = room == 0 && open_.size() < kMostOpen;
    if (room == 0 || open_.size() >= kMostOpen) return false;
    --room;
    last_stream_ = head.stream_id;
    open_[head.stream_id] = false;
  }
  if (head.Is(FrameType::kRstStream)) End(head.stream_id);
  return true;
}

void CallCount::Answered(ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t skipped = std::min(answer_payload_, bytes.size());
    answer_payload_ -= skipped;
    bytes = bytes.subspan(skipped);
    const size_t size = std::min(bytes.size(), sizeof answer_head_ - answer_head_bytes_);
    std::copy_n(bytes.begin(), size, answer_head_ + answer_head_bytes_);
    bytes = bytes.subspan(size);
    answer_head_bytes_ += size;
    if (answer_head_bytes_ < sizeof answer_head_) return;
    answer_head_bytes_ = 0;
    SeeAnswer(answer_head_);
  }
}

void CallCount::SeeAnswer(const uint8_t* bytes) {
  const h2::FrameHead head = h2::ReadFrameHead(bytes);
  answer_payload_ = head.length;
  if (IsPingOrSettings(head) && head.Has(h2::kFlagAck) && unanswered_ > 0) --unanswered_;
  const auto call = open_.find(head.stream_id);
  if (call == open_.end()) return;
  if (head.Is(FrameType::kRstStream)) {
    End(head.stream_id);
  } else if (head.Is(FrameType::kHeaders) || head.Is(FrameType::kData)) {
    if (!head.Has(h2::kFlagEndStream)) {
      call->second = true;
    } else if (call->second) {
      open_.erase(call);
    } else {
      End(head.stream_id);
    }
  }
}

void CallCount::End(uint32_t stream) { ended_ += open_.erase(stream); }

}  // namespace levee
