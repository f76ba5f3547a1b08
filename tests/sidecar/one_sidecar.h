// SPDX-License-Identifier: Apache-2.0
// What a sidecar has for shared limits, for tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "log/event_log.h"
#include "log/event_text.h"
#include "net/event_loop.h"
#include "sidecar/shared_stores.h"

namespace levee {

// One sidecar's stores and its limit, without calls around them.
class OneSidecar {
 public:
  OneSidecar(const StoreSpec& store, const RateLimitPolicy& policy)
      : stores_({metrics_, log_, board_},
                [this] {
                  const std::lock_guard lock(mutex_);
                  ++answers_;
                  answered_.notify_one();
                }),
        limit_(std::make_shared<RateLimiter>(policy, &stores_)) {
    stores_.Configure({store}, {limit_});
  }
  ~OneSidecar() { stores_.Stop(); }

  // Whether a call is admitted; waits for its lease as a call does.
  bool Call(const LimitKey& key = {}) {
    for (;;) {
      int seen;
      {
        const std::lock_guard lock(mutex_);
        seen = answers_;
      }
      const RatePermit permit = limit_->Take(key, net::ReadClock(), absl::ZeroDuration());
      if (permit.granted || !permit.awaits_lease) return permit.granted;
      ++waits_;
      std::unique_lock lock(mutex_);
      answered_.wait(lock, [&] { return answers_ != seen; });
    }
  }

  // How often a call has waited for an answer of the store.
  int waits() const { return waits_; }

  // Calls until the store decides, or does not any more. Returns how many calls were admitted.
  int Await(PermitLease::State state) {
    int admitted = 0;
    do {
      admitted += Call();
    } while (limit_->LeaseState(net::ReadClock()) != state);
    return admitted;
  }

  // Calls until one is admitted, where none is without the store.
  void AwaitAdmission() {
    while (!Call()) {
    }
  }

  // Waits for so many events of stores; returns all that there were by then.
  std::vector<std::string> AwaitEvents(size_t count) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return events_.size() >= count; });
    return events_;
  }

  SharedStores& stores() { return stores_; }

  void AwaitNoView() const {
    while (!board_.Read().empty()) std::this_thread::yield();
  }

  // The view of the only store, once `seen` is true of it.
  template <typename Condition>
  StoreView AwaitView(Condition seen) const {
    for (;;) {
      for (const StoreView& view : board_.Read()) {
        if (seen(view)) return view;
      }
      std::this_thread::yield();
    }
  }
  const std::shared_ptr<RateLimiter>& limit() const { return limit_; }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  int answers_ = 0;
  std::atomic<int> waits_ = 0;
  Metrics metrics_{Metrics::Options()};
  std::vector<std::string> events_;
  EventLog log_{LogLevel::kInfo, [this](const LogEvent& event) {
                  const std::lock_guard lock(mutex_);
                  events_.push_back(EventText(event));
                  answered_.notify_one();
                }};
  StoreBoard board_;
  SharedStores stores_;
  const std::shared_ptr<RateLimiter> limit_;
};

}  // namespace levee
