// SPDX-License-Identifier: Apache-2.0
// The end of connections that are old (MAX_CONNECTION_AGE of gRFC A9).
#pragma once

#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "base/random.h"
#include "base/timer_wheel.h"

namespace levee {

// Tells that a connection has reached its age, and again every kAgain until this is destroyed. One
// thread.
class ConnectionAge final : private Timer {
 public:
  static constexpr absl::Duration kAgain = absl::Seconds(1);

  // `age`: above zero. It is a tenth shorter or longer, so that connections that were made together
  // do not end together. `wheel` outlives this, and `reached` must not destroy it.
  ConnectionAge(TimerWheel& wheel, Instant now, absl::Duration age, Random& random,
                std::function<void()> reached)
      : wheel_(wheel), reached_(std::move(reached)) {
    wheel_.Arm(*this, now + age * (0.9 + 0.2 * random.Uniform()));
  }

 private:
  void OnTimer(Instant now) override {
    wheel_.Arm(*this, now + kAgain);
    reached_();
  }

  TimerWheel& wheel_;
  const std::function<void()> reached_;
};

}  // namespace levee
