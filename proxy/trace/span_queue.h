// SPDX-License-Identifier: Apache-2.0
// The spans that wait for their receiver.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "trace/call_spans.h"

namespace levee {

// Bounded. The spans of a call come and go together. Any thread; its lock is held for no longer
// than the move of one batch takes.
class SpanQueue {
 public:
  static constexpr int kMaxSpans = 4096;
  static constexpr size_t kMaxBytes = 4 << 20;  // CallSpans::bytes
  // So many spans are worth sending at once.
  static constexpr int kBatch = 512;

  enum class Added {
    kNo,          // There is no room for the spans, which are lost.
    kYes,         // They wait.
    kBatchReady,  // Since they wait, there is a batch.
  };
  Added Add(CallSpans spans);

  // Removes and returns the oldest spans: calls with kBatch spans together, and the rest of the
  // last one. Empty: none wait.
  std::vector<CallSpans> Take();

  bool HasBatch() const;

  // Removes all spans. Returns how many there were.
  int Clear();

 private:
  mutable std::mutex mutex_;
  std::deque<CallSpans> calls_;
  int spans_ = 0;
  size_t bytes_ = 0;
};

}  // namespace levee
