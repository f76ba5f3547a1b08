// SPDX-License-Identifier: Apache-2.0
#include "h2/block_assembly.h"

namespace levee::h2 {

BlockAssembly::Result BlockAssembly::CutToFragment(const FrameHead& head, ByteSpan& payload) {
  size_t padding = 0;
  if (head.Has(kFlagPadded)) {
    if (payload.empty()) return Result::kTooShort;
    padding = payload[0];
    payload = payload.subspan(1);
  }
  if (head.Has(kFlagPriority)) {
    if (payload.size() < 5) return Result::kTooShort;
    payload = payload.subspan(5);
  }
  if (padding > payload.size()) return Result::kBadPadding;
  payload = payload.first(payload.size() - padding);
  return Result::kWhole;
}

BlockAssembly::Result BlockAssembly::Begin(const FrameHead& head, ByteSpan fragment) {
  gathered_.assign(fragment.begin(), fragment.end());
  wire_bytes_ = fragment.size();
  open_stream_ = head.stream_id;
  return Result::kMore;
}

BlockAssembly::Result BlockAssembly::TakeContinuation(const FrameHead& head, ByteSpan payload) {
  // The heads of the frames count too. Otherwise a block of a million empty frames would be small
  // (CVE-2024-27316).
  wire_bytes_ += kFrameHeadBytes + payload.size();
  if (wire_bytes_ > max_bytes_) return Result::kTooLong;
  gathered_.insert(gathered_.end(), payload.begin(), payload.end());
  if (!head.Has(kFlagEndHeaders)) return Result::kMore;
  open_stream_ = 0;
  block_ = gathered_;
  return Result::kWhole;
}

void BlockAssembly::Clear() {
  block_ = {};
  gathered_ = std::vector<uint8_t>();  // An assignment of {} would keep the memory.
}

}  // namespace levee::h2
