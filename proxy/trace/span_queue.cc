// SPDX-License-Identifier: Apache-2.0
#include "trace/span_queue.h"

#include <utility>

namespace levee {

SpanQueue::Added SpanQueue::Add(CallSpans spans) {
  const int count = spans.count();
  const size_t bytes = spans.bytes();
  const std::lock_guard lock(mutex_);
  if (spans_ + count > kMaxSpans || bytes_ + bytes > kMaxBytes) return Added::kNo;
  const bool had_batch = spans_ >= kBatch;
  calls_.push_back(std::move(spans));
  spans_ += count;
  bytes_ += bytes;
  return !had_batch && spans_ >= kBatch ? Added::kBatchReady : Added::kYes;
}

std::vector<CallSpans> SpanQueue::Take() {
  std::vector<CallSpans> batch;
  const std::lock_guard lock(mutex_);
  for (int taken = 0; !calls_.empty() && taken < kBatch;) {
    CallSpans& oldest = calls_.front();
    taken += oldest.count();
    spans_ -= oldest.count();
    bytes_ -= oldest.bytes();
    batch.push_back(std::move(oldest));
    calls_.pop_front();
  }
  return batch;
}

bool SpanQueue::HasBatch() const {
  const std::lock_guard lock(mutex_);
  return spans_ >= kBatch;
}

int SpanQueue::Clear() {
  std::deque<CallSpans> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(calls_);
  bytes_ = 0;
  return std::exchange(spans_, 0);
}

}  // namespace levee
