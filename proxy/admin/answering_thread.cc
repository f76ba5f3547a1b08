// SPDX-License-Identifier: Apache-2.0
#include "admin/answering_thread.h"

#include <utility>

namespace levee {

AnsweringThread::AnsweringThread() : thread_([this] { Run(); }) {}

void AnsweringThread::Add(uint64_t number, std::function<void()> answer) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(number, std::move(answer));
  changed_.notify_one();
}

void AnsweringThread::Drop(uint64_t number) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(number);
}

void AnsweringThread::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void AnsweringThread::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    const auto next = waiting_.extract(waiting_.begin());
    lock.unlock();
    next.mapped()();
    lock.lock();
  }
}

}  // namespace levee
