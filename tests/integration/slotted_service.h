// SPDX-License-Identifier: Apache-2.0
// A real gRPC server that works on so many calls at a time, and does not know when to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "integration/faulty_service.h"

namespace levee {

// Calls are served in the order in which they come, also those whose callers have gone, and all
// answers are OK. Work is a timer, so what the service can do does not depend on the machine.
// Thread-safe.
class SlottedService {
 public:
  using Work = std::function<std::chrono::milliseconds(const SeenCall&)>;

  SlottedService(int slots, Work work)
      : work_(std::move(work)),
        free_at_(static_cast<size_t>(slots)),
        service_([this](const SeenCall& call) { return Serve(call); }) {}
  SlottedService(int slots, std::chrono::milliseconds work)
      : SlottedService(slots, [work](const SeenCall&) { return work; }) {}

  const std::string& address() const { return service_.address(); }
  int calls() const { return service_.calls(); }

  // A slot that goes ends the work that it has.
  void SetSlots(int slots) {
    const std::lock_guard lock(mutex_);
    free_at_.resize(static_cast<size_t>(slots));
  }

 private:
  using Clock = std::chrono::steady_clock;

  Answer Serve(const SeenCall& call) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    Clock::time_point& slot = *std::min_element(free_at_.begin(), free_at_.end());
    slot = std::max(slot, now) + work_(call);
    Answer answer;
    answer.delay = std::chrono::ceil<std::chrono::milliseconds>(slot - now);
    return answer;
  }

  const Work work_;
  std::mutex mutex_;
  std::vector<Clock::time_point> free_at_;  // by slot
  FaultyService service_;
};

}  // namespace levee
