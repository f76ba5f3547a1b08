// SPDX-License-Identifier: Apache-2.0
#include "virtual/jumping_time.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <uv.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "virtual/loopback_order.h"

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int __real_clock_gettime(clockid_t clock, timespec* time);
extern "C" int __real_timerfd_settime(int fd, int flags, const itimerspec* at, itimerspec* before);
extern "C" int __real_epoll_pwait(int fd, epoll_event* events, int most, int timeout,
                                  const sigset_t* signals);
extern "C" int __real_uv_run(uv_loop_t* loop, uv_run_mode mode);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace levee {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kNanosPerMillisecond = 1'000'000;

// Not zero and not a round number: a zero Instant that code relies on by mistake shows.
constexpr int64_t kJumpsStart = 98'765'432'101;

// The clock and the timers of a thread.
class Jumps {
 public:
  int64_t nanos() const { return nanos_; }

  // Zero disarms the timer.
  void Arm(int timer, int64_t at) {
    if (at == 0) {
      timers_.erase(timer);
    } else {
      timers_[timer] = at;
    }
  }

  // Goes to the next timer, which has then fired, but not past `limit`. Returns false at `limit`.
  bool Next(int64_t limit) {
    const auto next = std::min_element(
        timers_.begin(), timers_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    if (next == timers_.end() || next->second > limit) {
      nanos_ = std::max(nanos_, limit);
      return false;
    }
    nanos_ = std::max(nanos_, next->second);
    Fire(next->first);
    timers_.erase(next);
    return true;
  }

  bool HasTimers() const { return !timers_.empty(); }
  bool OthersWork() const { return loop_ != nullptr && loop_->active_reqs.count > 0; }

  // The loop that runs.
  uv_loop_t* SetLoop(uv_loop_t* loop) { return std::exchange(loop_, loop); }

  void Settle() const { order_.Settle(); }

 private:
  // A number that is none of a timer any more does nothing.
  static void Fire(int timer) {
    itimerspec at_once{};
    at_once.it_value.tv_nsec = 1;
    if (__real_timerfd_settime(timer, 0, &at_once, nullptr) != 0) return;
    pollfd fired = {.fd = timer, .events = POLLIN, .revents = 0};
    LEVEE_CHECK(poll(&fired, 1, -1) == 1);
  }

  LoopbackOrder order_;
  int64_t nanos_ = kJumpsStart;
  std::map<int, int64_t> timers_;
  uv_loop_t* loop_ = nullptr;
};

thread_local std::unique_ptr<Jumps> jumps;

// Waits as epoll_pwait does.
int Wait(int fd, epoll_event* events, int most, int timeout, const sigset_t* signals) {
  const auto ready = [&] { return __real_epoll_pwait(fd, events, most, 0, signals); };
  int found = ready();
  if (found != 0 || timeout == 0) return found;
  jumps->Settle();
  found = ready();
  const int64_t limit = timeout < 0 ? INT64_MAX : jumps->nanos() + timeout * kNanosPerMillisecond;
  while (found == 0) {
    if (jumps->OthersWork() || (timeout < 0 && !jumps->HasTimers())) {
      return __real_epoll_pwait(fd, events, most, -1, signals);
    }
    if (!jumps->Next(limit)) break;
    found = ready();
  }
  return found;
}

}  // namespace

JumpingTime::JumpingTime() {
  LEVEE_CHECK(jumps == nullptr);
  jumps = std::make_unique<Jumps>();
}

JumpingTime::~JumpingTime() { jumps.reset(); }

Instant JumpingTime::now() { return Instant::FromNanos(jumps->nanos()); }

}  // namespace levee

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int __wrap_uv_run(uv_loop_t* loop, uv_run_mode mode) {
  if (levee::jumps == nullptr) return __real_uv_run(loop, mode);
  uv_loop_t* const outer = levee::jumps->SetLoop(loop);
  const int more = __real_uv_run(loop, mode);
  levee::jumps->SetLoop(outer);
  return more;
}

extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  const bool monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
  if (levee::jumps == nullptr || !monotonic) return __real_clock_gettime(clock, time);
  time->tv_sec = levee::jumps->nanos() / levee::kNanosPerSecond;
  time->tv_nsec = levee::jumps->nanos() % levee::kNanosPerSecond;
  return 0;
}

extern "C" int __wrap_timerfd_settime(int fd, int flags, const itimerspec* at, itimerspec* before) {
  if (levee::jumps == nullptr) return __real_timerfd_settime(fd, flags, at, before);
  LEVEE_CHECK(flags == TFD_TIMER_ABSTIME);
  levee::jumps->Arm(fd, at->it_value.tv_sec * levee::kNanosPerSecond + at->it_value.tv_nsec);
  // What has fired before is forgotten, as by the kernel.
  const itimerspec never{};
  return __real_timerfd_settime(fd, 0, &never, before);
}

extern "C" int __wrap_epoll_pwait(int fd, epoll_event* events, int most, int timeout,
                                  const sigset_t* signals) {
  if (levee::jumps == nullptr) return __real_epoll_pwait(fd, events, most, timeout, signals);
  return levee::Wait(fd, events, most, timeout, signals);
}

extern "C" int __wrap_epoll_wait(int fd, epoll_event* events, int most, int timeout) {
  return __wrap_epoll_pwait(fd, events, most, timeout, nullptr);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
