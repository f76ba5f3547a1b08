// SPDX-License-Identifier: Apache-2.0
// A receiver of spans that keeps them for the test.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "server/span_sink.h"

namespace levee {

// Any thread.
class KeptSpans final : public SpanSink {
 public:
  bool Add(CallSpans spans) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(spans));
    return true;
  }

  std::vector<CallSpans> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<CallSpans> calls_;
};

}  // namespace levee
