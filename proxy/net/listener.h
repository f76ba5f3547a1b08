// SPDX-License-Identifier: Apache-2.0
// A listening socket, TCP or Unix.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "net/address.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"

namespace levee::net {

// Accepts connections in the loop's thread and hands them out.
class Listener final : private ReadyHandler, private Timer {
 public:
  // While the process has no free descriptor, no connection is accepted for this long.
  static constexpr absl::Duration kPause = absl::Milliseconds(100);

  struct Options {
    // Called from the loop whenever the process has no descriptor left for a connection; that
    // connection is closed at once, or waits.
    std::function<void()> exhausted = [] {};
    mode_t mode = 0660;       // permissions of the socket at a path
    bool for_callers = true;  // whose connections leave some descriptors (net/descriptors.h)
    // The kernel keeps about so many bytes of a connection in each direction; 0: as it likes.
    int buffer_bytes = 0;
  };

  // Binds and listens at once: a busy port is an error here. `accepted` is called from the loop.
  //
  // At a path, a socket on which nobody listens any more is removed first. It is an error if the
  // socket is in use, or if the file is not a socket.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(
      EventLoop& loop, TimerWheel& wheel, const Address& address,
      std::function<void(ByteStream stream)> accepted, Options options);
  static absl::StatusOr<std::unique_ptr<Listener>> Open(
      EventLoop& loop, TimerWheel& wheel, const Address& address,
      std::function<void(ByteStream stream)> accepted) {
    return Open(loop, wheel, address, std::move(accepted), Options());
  }

  // Removes the socket at a path, unless another one has taken its place.
  ~Listener() override;

  // Refuses connections until Resume, as if nobody listened, and keeps the port as far as it can. A
  // socket at a path goes on listening: there is no way to refuse there.
  void Pause();

  // Listens again after Pause. Fails if another process has taken the port meanwhile.
  absl::Status Resume();

  // Changes the permissions of a socket at a path.
  absl::Status SetMode(mode_t mode);

  // The address, with the port that the system chose if 0 was asked for.
  const Address& address() const { return address_; }

 private:
  Listener(EventLoop& loop, TimerWheel& wheel, int fd, const Address& address,
           std::function<void(ByteStream)> accepted, Options options);
  void OnReady(bool readable, bool writable) override;
  void OnTimer(Instant now) override;
  void RefuseOne();
  void Watch();

  EventLoop& loop_;
  TimerWheel& wheel_;
  int fd_;        // -1: it is paused, and has lost the port
  int spare_fd_;  // given up for a moment when the process has no descriptor left
  Address address_;
  std::function<void(ByteStream)> accepted_;
  const Options options_;
  std::string file_;  // tells the Unix socket's file from another one at its path; empty: none
  std::optional<EventLoop::Watch> watch_;
};

// Whether the system has the address ::1, which containers may lack.
bool HasIpv6Loopback();

}  // namespace levee::net
