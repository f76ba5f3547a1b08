// SPDX-License-Identifier: Apache-2.0
// A connection on an event loop: its bytes and its end as events.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/chunk.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"

namespace levee::net {

// Receives a socket's events, in the loop's thread. It may destroy the socket in OnClosed only.
class SocketHandler {
 public:
  // The stream became ready. Not called if it was ready from the start.
  virtual void OnConnected() = 0;

  // Bytes came; they are valid during this call. `shared`: the same bytes as a chunk, of which
  // slices may be kept; it may be empty.
  virtual void OnBytes(ByteSpan bytes, const Chunk& shared) = 0;

  // The socket takes bytes again, after Write took fewer than it was given.
  virtual void OnWritable() = 0;

  // The socket cannot be used any more: end of stream, error, or the stream did not become ready.
  // `reason`: "connection closed by the peer", "connection refused", ... Called once, and not after
  // Close.
  virtual void OnClosed(const std::string& reason) = 0;

 protected:
  ~SocketHandler() = default;
};

// Owns the stream. One thread.
class Socket final : private ReadyHandler {
 public:
  // Takes a stream that is ready or connects; in the second case OnConnected or OnClosed follows.
  // OnClosed is called in a later turn, also if the stream has failed already.
  Socket(EventLoop& loop, ByteStream stream, SocketHandler& handler);

  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Writes as much as the kernel takes now and returns how much. If that is not all, OnWritable
  // follows, and the rest must be written before anything else. An error returns zero, and OnClosed
  // follows.
  size_t Write(ByteSpan bytes);
  size_t Write(std::span<const ByteSpan> pieces);  // one after the other

  // Bounds what one read takes, so that this connection takes less of each turn. Above zero;
  // unbounded at first.
  void SetReadLimit(size_t bytes) { read_limit_ = bytes; }

  // False: reads nothing, and does not notice the peer's end either, until this is true again. The
  // bytes wait in the kernel meanwhile.
  void SetReading(bool reading);

  // As ByteStream says.
  size_t Unacknowledged() const { return stream_.Unacknowledged(); }
  std::optional<PeerSigns> Signs() const { return stream_.Signs(); }

  // nullptr without TLS; else with the failure of the handshake, if it has failed.
  const tls::Session* tls() const { return stream_.tls(); }

  // As ByteStream says.
  bool connected() const { return stream_.connected(); }
  bool shaking_hands() const { return stream_.shaking_hands(); }

  // Whether bytes can pass.
  bool open() const { return state_ == State::kOpen; }

  // As ByteStream says. Events of what the peer sends go on. The socket must be open.
  void EndWriting() { stream_.EndWriting(); }

  // Whether OnClosed came because the peer sends nothing more. It may still read.
  bool ended() const { return ended_; }

  // Gives the stream to the caller; no events come any more. The socket must be open, or ended().
  ByteStream Release();

 private:
  enum class State { kConnecting, kOpen, kClosed };

  void OnReady(bool readable, bool writable) override;
  void FinishConnecting();
  void SendRest();
  void Read();
  void ReadLater();
  size_t Written(const ByteStream::Transfer& moved);
  void Fail(const std::string& reason);
  void UpdateWatch();

  EventLoop& loop_;
  SocketHandler& handler_;
  ByteStream stream_;
  State state_;
  bool want_write_;
  bool ended_ = false;
  bool reading_ = true;
  bool read_is_due_ = false;  // a task will read
  size_t read_limit_ = SIZE_MAX;
  std::optional<EventLoop::Watch> watch_;
  // Guards callbacks posted to a later turn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee::net
