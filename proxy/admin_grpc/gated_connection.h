// SPDX-License-Identifier: Apache-2.0
// A connection of the admin gRPC port, whose bytes go through Levee to the gRPC library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "admin_grpc/call_count.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/given_socket.h"

namespace levee {

// Passes the bytes of a peer to the library, and back, and holds a few KiB of each. It reads no
// more from a peer that does not take its answers, or that begins calls for which there is no room.
// One thread, that of the loop.
class GatedConnection {
 public:
  // It asks, and tells, who has all connections.
  struct Port {
    std::function<size_t()> room;   // calls that may begin, of all connections
    std::function<void()> changed;  // it wants room, has calls that ended, or has ended
  };

  // `port` outlives it.
  GatedConnection(net::EventLoop& loop, net::ByteStream peer, const Port& port);
  GatedConnection(const GatedConnection&) = delete;
  GatedConnection& operator=(const GatedConnection&) = delete;

  // The library's end of it; -1: the process has no descriptors left.
  int given() const { return given_.descriptor(); }

  // Passes on what can pass, since there may be room now.
  void Continue();

  // Passes on what the library has sent so far.
  void PassAnswers();

  // Ends it if its peer has left, though not all that it has sent is read.
  void EndIfLeft();

  // Closes both sides. The library may have the connection, and its calls, for a while.
  void End();
  bool ended() const { return !peer_watch_.has_value(); }

  // Whether the library still has the connection.
  bool IsHeld() const { return given_.IsOpen(); }

  // The calls that the library may have; more are wanted.
  CallCount& count() { return count_; }
  const CallCount& count() const { return count_; }

 private:
  static constexpr size_t kMostBytes = 16 << 10;  // of each direction

  // Each side has a handler of its own.
  struct Side final : net::ReadyHandler {
    Side(GatedConnection& its, void (GatedConnection::*ready)(bool readable))
        : connection(its), on_ready(ready) {}
    void OnReady(bool readable, bool) override { (connection.*on_ready)(readable); }
    GatedConnection& connection;
    void (GatedConnection::*on_ready)(bool readable);
  };

  void OnPeer(bool readable);
  void OnLibrary(bool readable);
  bool Read(net::ByteStream& from, std::vector<uint8_t>& to);
  bool MayRead() const;
  void Pass();
  void Watch();

  net::EventLoop& loop_;
  const Port& port_;
  net::ByteStream peer_;
  net::ByteStream library_;
  const net::GivenSocket given_;
  CallCount count_;
  std::vector<uint8_t> from_peer_;
  size_t may_pass_ = 0;  // of these, from the first on
  std::vector<uint8_t> to_peer_;
  bool library_ended_ = false;
  Side peer_side_{*this, &GatedConnection::OnPeer};
  Side library_side_{*this, &GatedConnection::OnLibrary};
  std::optional<net::EventLoop::Watch> peer_watch_;
  std::optional<net::EventLoop::Watch> library_watch_;
};

}  // namespace levee
