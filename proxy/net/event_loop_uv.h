// SPDX-License-Identifier: Apache-2.0
// The libuv side of the loop, for other files of net/.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/instant.h"
#include "net/event_loop.h"

namespace levee::net {

struct EventLoop::Internals {
  explicit Internals(EventLoop& owner);
  ~Internals();

  static void OnCheck(uv_check_t* check);
  static void OnPosted(uv_poll_t* posted, int status, int events);
  static void OnWakeup(uv_poll_t* wakeup, int status, int events);

  void BeginTurn();
  void WakeAt(Instant when);
  void AnnouncePosted();  // Any thread.

  struct Signal {
    uv_signal_t handle;
    std::function<void()> handler;
  };

  EventLoop& loop;
  uv_loop_t uv;
  uv_check_t check;
  // This descriptor is readable while there are posted tasks. It stands in the place of uv_async_t,
  // with which a loop waits, in a circle of sched_yield, for a thread that was interrupted between
  // two steps of the sending.
  const int posted_fd;
  uv_poll_t posted;
  // A descriptor of the kernel's timer. A timer of libuv would make each poll wait with a timeout,
  // for which the kernel starts and cancels a timer every time.
  const int wakeup_fd;
  uv_poll_t wakeup;
  Instant wake_at = Instant::Infinite();
  std::vector<std::unique_ptr<Signal>> signals;
};

}  // namespace levee::net
