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
    int most = 0;       // at once, from the caller's first byte on; above zero
    int silent = 1024;  // connections whose callers have not sent a byte; above zero
    absl::Duration timeout = absl::Seconds(10);  // from the connection on
    // While `most` are under way, a new one ends the oldest that has taken this long. If none has,
    // the new one is refused. So callers that stop in the middle cannot keep others out for longer,
    // and a flood cannot end those that go on well.
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

  // As Bounds has them. Any thread; handshakes that are under way stay.
  void SetMost(int most, int silent);

 private:
  class Handshake;

  Instant OnTurnEnd(Instant now) override;
  void Start(ByteStream stream, std::shared_ptr<const tls::Context> context, Done done);
  void GivePlace(Handshake& silent);
  bool MakeRoom();
  void End(Handshake& handshake, bool refused);

  EventLoop loop_;
  TimerWheel wheel_;
  Bounds bounds_;
  // Both lists begin with the oldest, and own what is in them.
  int under_way_ = 0;
  IntrusiveList<Handshake> placed_;
  int waiting_ = 0;
  IntrusiveList<Handshake> silent_;  // without a place, and without a TLS session
  std::thread thread_;
};

}  // namespace levee::net
