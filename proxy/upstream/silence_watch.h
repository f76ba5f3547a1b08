// SPDX-License-Identifier: Apache-2.0
// Looks after a connection on which calls run: does the other end's kernel still answer?
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/timer_wheel.h"
#include "net/peer_signs.h"
#include "upstream/peer_silence.h"

namespace levee {

// One thread.
class SilenceWatch final : private Timer {
 public:
  static constexpr absl::Duration kEvery = absl::Milliseconds(100);

  // `look`: what the kernel knows; nullopt: nobody wants to know, or it is no TCP. `changed`:
  // the state has changed. `wheel` outlives this, and `changed` must not destroy it.
  SilenceWatch(TimerWheel& wheel, std::function<std::optional<net::PeerSigns>()> look,
               std::function<void()> changed)
      : wheel_(wheel), look_(std::move(look)), changed_(std::move(changed)) {}

  // A call begins.
  void OnCall(Instant now) {
    if (Timer::when().is_infinite()) wheel_.Arm(*this, now + kEvery);
  }

  void Stop() { Timer::Unlink(); }

  PeerSilence::State state() const { return state_; }

 private:
  void OnTimer(Instant now) override {
    const std::optional<net::PeerSigns> signs = look_();
    if (signs.has_value()) wheel_.Arm(*this, now + kEvery);
    const auto state = silence_.Judge(signs.value_or(net::PeerSigns()), now);
    if (std::exchange(state_, state) != state) changed_();
  }

  TimerWheel& wheel_;
  const std::function<std::optional<net::PeerSigns>()> look_;
  const std::function<void()> changed_;
  PeerSilence silence_;
  PeerSilence::State state_ = PeerSilence::State::kLives;
};

}  // namespace levee
