// SPDX-License-Identifier: Apache-2.0
// The connections of the admin gRPC port, until the gRPC library has let go of them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>

#include "admin_grpc/gated_connection.h"
#include "base/timer_wheel.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"

namespace levee {

// Stands between the peers of the port and the gRPC library, which would take any number of
// connections and calls and be slow to let go of those that have ended. The library has few of each
// at a time. A connection keeps its place until the library has closed its end, since before that
// the calls on it are there.
//
// A new connection gets in: where all places are taken and none is about to be free, the oldest
// connection ends. A new call does, too: where there are too many, the connection with most of them
// ends. A connection that waits is not read. One thread, that of the loop.
class Gate final : private Timer {
 public:
  static constexpr size_t kMostConnections = 64;
  // Calls that the library may have, of all connections.
  static constexpr size_t kMostCalls = 256;
  // Further connections that wait for a place. The oldest of them is closed for a new one.
  static constexpr size_t kMostWaiting = 64;
  // How often it looks whether the library has let go. A call that has ended without an answer is
  // taken for gone after as long, one after the other: the library tells nobody.
  static constexpr absl::Duration kLook = absl::Milliseconds(10);

  // `serve` is given a descriptor, which it owns, for each connection.
  Gate(net::EventLoop& loop, TimerWheel& wheel, std::function<void(int descriptor)> serve)
      : loop_(loop), wheel_(wheel), serve_(std::move(serve)) {}
  ~Gate() override = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void Add(net::ByteStream peer);

  // Takes no further connection.
  void Close();

  // Passes on what the library has sent so far.
  void PassAnswers();

  // Connections, and calls, that the library may have.
  size_t connections() const { return places_.size(); }
  size_t calls() const;

 private:
  void OnTimer(Instant now) override;
  size_t Room() const { return kMostCalls - std::min(kMostCalls, calls()); }
  void Admit();
  void EndOldest();
  void MakeRoom();
  void ForgetEndedCall();
  void LookSoon();

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  const std::function<void(int descriptor)> serve_;
  const GatedConnection::Port port_{.room = [this] { return Room(); },
                                    .changed = [this] { LookSoon(); }};
  bool closed_ = false;
  std::list<GatedConnection> places_;  // the oldest first
  std::deque<net::ByteStream> waiting_;
};

}  // namespace levee
