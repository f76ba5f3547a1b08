// SPDX-License-Identifier: Apache-2.0
#include "server/idle_watch.h"

#include <utility>

namespace levee {

void IdleWatch::SetTimeout(absl::Duration timeout) {
  // Reloads, however often they come, do not put the next look off.
  if (std::exchange(timeout_, timeout) == timeout) return;
  Timer::Unlink();
  if (timeout_ < absl::InfiniteDuration()) {
    io_.wheel.Arm(*this, io_.loop.now() + timeout_ / kLooks);
  }
}

void IdleWatch::OnTimer(Instant now) {
  connections_.ForEach([&](DownstreamConnection& connection) {
    if (connection.IdleFor(now) >= timeout_) connection.Leave();
  });
  tunnels_.ForEach([&](RawTunnel& tunnel) {
    if (tunnel.IdleFor(now) >= timeout_) tunnel.Close();
  });
  io_.wheel.Arm(*this, now + timeout_ / kLooks);
}

}  // namespace levee
