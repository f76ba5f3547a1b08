// SPDX-License-Identifier: Apache-2.0
// One thread's sockets and timers.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace levee::ledger {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

// Told of what befalls a descriptor.
class Ready {
 public:
  virtual ~Ready() = default;
  // `events` as of epoll.
  virtual void OnReady(uint32_t events) = 0;
  // At the end of a turn in which it was touched.
  virtual void OnTurnEnd() {}

 private:
  friend class Loop;
  bool touched_ = false;
};

class Loop {
 public:
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  // `owner` is kept until Forget, should it go earlier, by Bury.
  void Watch(int fd, Ready& owner, uint32_t events);
  void Change(int fd, Ready& owner, uint32_t events);
  // To be called before the descriptor is closed: a child that another thread is just starting may
  // hold it for a moment longer, and with it what epoll knows of it.
  void Forget(int fd);

  // Its OnTurnEnd is called in this turn.
  void Touch(Ready& ready);

  // Keeps it until the end of the turn, since events may still name it.
  void Bury(std::shared_ptr<Ready> dead) { dead_.push_back(std::move(dead)); }

  void After(Millis delay, std::function<void()> task);

  // When the current turn began.
  Clock::time_point now() const { return now_; }

  // Waits for something to do, no longer than `longest`, and does it.
  void Turn(Millis longest);

 private:
  int fd_;
  Clock::time_point now_ = Clock::now();
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  std::vector<Ready*> touched_;
  std::vector<std::shared_ptr<Ready>> dead_;
};

}  // namespace levee::ledger
