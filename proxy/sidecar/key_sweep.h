// SPDX-License-Identifier: Apache-2.0
// Forgets idempotency keys whose time is over, and counts those for which there was no room.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "dedupe/dedupe_stores.h"
#include "net/event_loop.h"
#include "telemetry/cells.h"

namespace levee {

// Without it the keys of a service that gets no calls any more would stay. One thread.
class KeySweep final : private Timer {
 public:
  static constexpr absl::Duration kEvery = absl::Milliseconds(250);

  // All references must outlive it. `hits`: of the limit; nobody else writes it.
  KeySweep(DedupeStores& stores, Counter& hits, net::EventLoop& loop, TimerWheel& wheel)
      : stores_(stores), hits_(hits), loop_(loop), wheel_(wheel) {}

  void Start() { wheel_.Arm(*this, loop_.now() + kEvery); }

 private:
  void OnTimer(Instant now) override {
    stores_.ForgetOld(now);
    const uint64_t times = stores_.TimesFull();
    hits_.Add(times - std::exchange(counted_, times));
    wheel_.Arm(*this, now + kEvery);
  }

  DedupeStores& stores_;
  Counter& hits_;
  net::EventLoop& loop_;
  TimerWheel& wheel_;
  uint64_t counted_ = 0;
};

}  // namespace levee
