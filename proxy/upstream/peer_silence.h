// SPDX-License-Identifier: Apache-2.0
// Whether the other end of a connection has gone, as the kernels tell.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "base/instant.h"
#include "net/peer_signs.h"

namespace levee {

// The peer's kernel acknowledges what it gets at once, however busy or stopped the process is. So a
// peer that lives is never taken for dead because it is slow, and nothing is sent to find out. A
// value without clock; one thread; `now` never goes backward.
class PeerSilence {
 public:
  // A peer that has acknowledged nothing for kSilent is silent: new calls prefer other connections.
  // After kGone it is taken to be gone, if the kernel has sent the bytes again so often by then.
  static constexpr absl::Duration kSilent = absl::Milliseconds(500);
  static constexpr absl::Duration kGone = absl::Seconds(1);
  static constexpr int kRetransmits = 2;
  static constexpr int kRoundTrips = 3;

  enum class State { kLives, kSilent, kGone };

  // Takes what the kernel knows now; asked several times in kSilent.
  State Judge(const net::PeerSigns& signs, Instant now) {
    if (signs.unacknowledged == 0) {
      since_ = Instant::Infinite();
      return State::kLives;
    }
    // Nobody knows how old the bytes are when they are first seen.
    since_ = std::max(std::min(since_, now), now - signs.since_ack);
    const absl::Duration silence = now - since_;
    if (silence < std::max(kSilent, kRoundTrips * signs.round_trip) || signs.retransmits == 0) {
      return State::kLives;
    }
    return silence >= kGone && signs.retransmits >= kRetransmits ? State::kGone : State::kSilent;
  }

 private:
  Instant since_ = Instant::Infinite();
};

}  // namespace levee
