// SPDX-License-Identifier: Apache-2.0
// Tells operators which limits were reached.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "log/event_limiter.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "telemetry/metrics.h"

namespace levee {

// Reads the counters of all limits once a second, so that the code that reaches a limit has to do
// nothing more than count. It writes at most one event a minute for each limit, with the hits since
// the event before. One thread.
class LimitWatch final : private Timer {
 public:
  using Hits = ByEnum<uint64_t, Limit, kLimits>;

  static constexpr absl::Duration kLookEvery = absl::Seconds(1);
  static constexpr absl::Duration kSpacing = absl::Minutes(1);

  // All references must outlive it.
  LimitWatch(EventLog& log, const Metrics& metrics, net::EventLoop& loop, TimerWheel& wheel)
      : log_(log), metrics_(metrics), loop_(loop), wheel_(wheel) {}

  // Begins to read the counters, unless the log does not show the events.
  void Start();

  // Writes the events that are due. `hits` is how often each limit was reached since the start.
  void Look(const Hits& hits, Instant now);

 private:
  void OnTimer(Instant now) override;

  EventLog& log_;
  const Metrics& metrics_;
  net::EventLoop& loop_;
  TimerWheel& wheel_;
  Hits written_{};
  std::vector<EventLimiter> limiters_{static_cast<size_t>(kLimits), EventLimiter(1, kSpacing)};
};

}  // namespace levee
