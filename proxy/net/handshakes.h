// SPDX-License-Identifier: Apache-2.0
// TLS handshakes with callers, in a thread of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "tls/context.h"

namespace levee::net {

// A handshake takes up to a millisecond of CPU, more than a hundred calls do. So none runs in a
// thread that carries calls, and the thread of the handshakes gives way to those where they share a
// CPU: many handshakes at once delay only each other.
class Handshakes final : private TurnHandler {
 public:
  struct Bounds {
    int most = 0;  // at once; above zero
    absl::Duration timeout = absl::Seconds(10);
    // While `most` are under way, a new connection ends the oldest one that has taken this long.
    // If none has, the new connection is refused. So connections that say nothing cannot keep
    // others out for longer, and a flood cannot end those that go on well.
    absl::Duration timeout_if_crowded = absl::Seconds(1);
  };

  // `stream`: ready, or failed for the reason that its tls() tells, or, if `refused`, not begun.
  using Done = absl::AnyInvocable<void(ByteStream stream, bool refused)>;

  // Starts the thread.
  explicit Handshakes(const Bounds& bounds);

  // Ends the thread. Connections whose handshakes are under way are closed, and nobody is told.
  ~Handshakes();

  // Takes a connection whose first bytes have not been read. `context`: of a server. `done` is
  // called once, in the thread of the handshakes. Any thread.
  void Begin(ByteStream stream, std::shared_ptr<const tls::Context> context, Done done);

  // Any thread; handshakes that are under way stay.
  void SetMost(int most);

 private:
  class Handshake;

  Instant OnTurnEnd(Instant now) override;
  void Start(ByteStream stream, std::shared_ptr<const tls::Context> context, Done done);
  bool MakeRoom();
  void End(Handshake& handshake);

  EventLoop loop_;
  TimerWheel wheel_;
  Bounds bounds_;
  int under_way_ = 0;
  IntrusiveList<Handshake> oldest_first_;  // owned
  std::thread thread_;
};

}  // namespace levee::net
