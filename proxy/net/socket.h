// SPDX-License-Identifier: Apache-2.0
// A stream socket that is connected, or connects.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/chunk.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace levee::net {

// Sets the options of all stream sockets: small writes are not delayed, and a connection whose peer
// has vanished ends, with bytes under way (TCP_USER_TIMEOUT) or without (keepalive probes). Does
// nothing for Unix sockets.
void SetStreamOptions(int fd);

// Where the other end of a connected socket is: "127.0.0.1:50301"; "unix" of a Unix socket without
// a path; empty if it is not connected any more.
std::string PeerName(int fd);

// Closes a descriptor that Listener or Socket::Release handed out and nobody goes on with.
void CloseDescriptor(int fd);

// Receives a socket's events, in the loop's thread. It may destroy the socket in OnClosed only.
class SocketHandler {
 public:
  // The connection attempt succeeded (not called for accepted sockets).
  virtual void OnConnected() = 0;

  // Bytes came; they are valid during this call. `shared`: the same bytes as a chunk, of which
  // slices may be kept; it may be empty.
  virtual void OnBytes(ByteSpan bytes, const Chunk& shared) = 0;

  // The socket takes bytes again, after Write took fewer than it was given.
  virtual void OnWritable() = 0;

  // The socket cannot be used any more: end of stream, error, or the attempt to connect failed.
  // `reason`: "connection closed by the peer", "connection refused", ... Called once, and not after
  // Close.
  virtual void OnClosed(const std::string& reason) = 0;

 protected:
  ~SocketHandler() = default;
};

// Owns the descriptor. One thread. The seam for TLS is here: a handshake would come between
// connecting and OnConnected, and encrypt what Write takes.
class Socket final : private ReadyHandler {
 public:
  // Takes an accepted descriptor, non-blocking.
  Socket(EventLoop& loop, int fd, SocketHandler& handler);

  // Starts connecting. Every failure, also an immediate one, is reported by OnClosed in a later
  // turn.
  Socket(EventLoop& loop, const Address& to, SocketHandler& handler);

  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Writes as much as the kernel takes now and returns how much. If that is not all, OnWritable
  // follows. An error returns zero, and OnClosed follows.
  size_t Write(ByteSpan bytes);
  size_t Write(std::span<const ByteSpan> pieces);  // one after the other

  // Returns the bytes that the kernel has taken and the peer has not, or a number that grows and
  // shrinks with them; 0 if the system cannot tell.
  size_t Unacknowledged() const;

  // Gives the descriptor, which is non-blocking, to the caller; no events come any more. The socket
  // must be open.
  int Release();

 private:
  enum class State { kConnecting, kOpen, kClosed };

  void OnReady(bool readable, bool writable) override;
  void FinishConnecting();
  void Read();
  size_t Written(ssize_t result, size_t wanted);
  void Fail(const std::string& reason);
  void UpdateWatch();

  EventLoop& loop_;
  SocketHandler& handler_;
  int fd_ = -1;
  State state_ = State::kOpen;
  bool want_write_ = false;
  std::optional<EventLoop::Watch> watch_;
  // Guards callbacks posted to a later turn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee::net
