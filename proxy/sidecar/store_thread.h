// SPDX-License-Identifier: Apache-2.0
// A thread that asks stores for the leases of limits.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "net/event_loop.h"
#include "policy/rate_limiter.h"

namespace levee {

// A loop, the thread that runs it, and the answers that a turn has brought to limits. The thread
// runs from the first task on. Its owner ends it: with Stop, and within its thread with EndLoop.
class StoreThread {
 public:
  // `answered`: called by EndTurn, in the thread.
  explicit StoreThread(std::function<void()> answered) : answered_(std::move(answered)) {}
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  net::EventLoop& loop() { return loop_; }

  // Whether there was a task. Called by the thread that gives tasks, as are the next two.
  bool running() const { return thread_.joinable(); }

  // Runs `task` in the thread, which starts now if it has not.
  void Run(absl::AnyInvocable<void()> task) {
    loop_.Post(std::move(task));
    if (!running()) thread_ = std::thread([this] { loop_.Run(); });
  }

  // Runs `end` in the thread, after which something calls EndLoop, and waits for the thread's end.
  // Idempotent.
  void Stop(absl::AnyInvocable<void()> end) {
    if (!running()) return;
    loop_.Post(std::move(end));
    thread_.join();
  }
  void EndLoop() { loop_.Stop(); }

  // Runs `request` in the thread, with the bucket's limit unless that is gone. Any thread.
  void Ask(LeaseSource::Bucket bucket,
           absl::AnyInvocable<void(const RateLimiter& limit, const LeaseSource::Bucket& bucket)>
               request) {
    loop_.Post([bucket = std::move(bucket), request = std::move(request)]() mutable {
      const std::shared_ptr<RateLimiter> limit = bucket.limiter.lock();
      if (limit != nullptr) request(*limit, bucket);
    });
  }

  // Tells the bucket's limit, unless that is gone, what its request has brought. In the thread.
  void Answer(const LeaseSource::Bucket& bucket, const absl::StatusOr<LeaseGrant>& answer) {
    const std::shared_ptr<RateLimiter> limit = bucket.limiter.lock();
    if (limit == nullptr) return;
    const Instant now = loop_.now();
    answer_waited_for_ |=
        answer.ok() ? limit->OnGrant(bucket, *answer, now) : limit->OnLost(bucket, now);
  }

  // At the end of each turn, in the thread: calls `answered` if calls waited for an answer of it.
  void EndTurn() {
    if (std::exchange(answer_waited_for_, false)) answered_();
  }

 private:
  const std::function<void()> answered_;
  net::EventLoop loop_;
  bool answer_waited_for_ = false;
  std::thread thread_;
};

}  // namespace levee
