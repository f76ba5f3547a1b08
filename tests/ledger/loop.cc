// SPDX-License-Identifier: Apache-2.0
#include "ledger/loop.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace levee::ledger {

Loop::Loop() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}

Loop::~Loop() { close(fd_); }

void Loop::Watch(int fd, Ready& owner, uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = &owner}};
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) == 0) return;
  std::perror("epoll_ctl");
  std::exit(1);
}

void Loop::Change(int fd, Ready& owner, uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = &owner}};
  epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::Forget(int fd) { epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }

void Loop::Touch(Ready& ready) {
  if (std::exchange(ready.touched_, true)) return;
  touched_.push_back(&ready);
}

void Loop::After(Millis delay, std::function<void()> task) {
  timers_.emplace(now_ + delay, std::move(task));
}

void Loop::Turn(Millis longest) {
  Millis wait = longest;
  if (!touched_.empty()) {
    wait = Millis(0);
  } else if (!timers_.empty()) {
    const auto due = std::chrono::ceil<Millis>(timers_.begin()->first - Clock::now());
    wait = std::clamp(due, Millis(0), longest);
  }
  std::array<epoll_event, 256> events;
  const int count = epoll_wait(fd_, events.data(), static_cast<int>(events.size()),
                               static_cast<int>(wait.count()));
  now_ = Clock::now();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    static_cast<Ready*>(event.data.ptr)->OnReady(event.events);
  }
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const auto task = std::move(timers_.extract(timers_.begin()).mapped());
    task();
  }
  for (Ready* ready : std::exchange(touched_, {})) {
    ready->touched_ = false;
    ready->OnTurnEnd();
  }
  // An object that was touched only now must not be freed before its turn.
  std::vector<std::shared_ptr<Ready>> dead = std::exchange(dead_, {});
  for (std::shared_ptr<Ready>& ready : dead) {
    if (ready->touched_) dead_.push_back(std::move(ready));
  }
}

}  // namespace levee::ledger
