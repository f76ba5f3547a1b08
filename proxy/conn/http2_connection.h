// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 session over a socket: the plumbing that both sides of the proxy share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "conn/held_input.h"
#include "conn/worker_io.h"
#include "h2/session.h"
#include "net/socket.h"
#include "telemetry/series.h"

namespace levee {

// As it is counted.
Limit LimitOf(h2::SessionLimit limit);

// The owner, as a connection sees it, besides h2::SessionHandler's events.
class Http2ConnectionOwner {
 public:
  // The stream became ready; HTTP/2 begins. Not called if it was ready from the start.
  virtual void OnConnected() = 0;

  // The connection is closed; every stream has been told. The owner should bury it.
  virtual void OnConnectionClosed(const std::string& reason) = 0;

 protected:
  ~Http2ConnectionOwner() = default;
};

// The owner must not destroy the connection from within its callbacks. One thread.
class Http2Connection : public Mortal,
                        public ListLink<Http2Connection>,
                        private net::SocketHandler,
                        private h2::OutputHandler,
                        private Timer {
 public:
  struct Options {
    h2::Session::Options session;
    // If bytes wait and the peer takes none of them for this long (give or take a quarter), the
    // connection is closed, and counted. Bytes wait if the kernel does not take them. Bytes for a
    // caller wait also if its flow-control windows hold them back: frames without a body do not
    // count as taken then. An upstream whose windows hold bytes back loses only the calls whose
    // bytes these are, since other callers may have calls on that connection.
    absl::Duration send_timeout = absl::InfiniteDuration();

    bool operator==(const Options&) const = default;
  };

  // `stream`: ready, or connecting. `events` gets the session's events. Bytes that were read from
  // the stream before must be passed to Receive.
  Http2Connection(WorkerIo& io, h2::Session::Role role, net::ByteStream stream,
                  const Options& options, h2::SessionHandler& events, Http2ConnectionOwner& owner);

  ~Http2Connection() override;

  // Takes bytes that another object read from the connection.
  void Receive(ByteSpan bytes) { OnBytes(bytes, Chunk()); }

  h2::Session& session() { return session_; }
  const h2::Session& session() const { return session_; }
  net::Socket& socket() { return socket_; }

  // The instant at which bytes last came; Instant() if none have.
  Instant received_at() const { return received_at_; }

  // A bound was reached, perhaps by bytes to be sent. Ends the connection if the session has ended.
  void OnLimit() {
    if (session_.broken()) Farewell();
  }

  // Ends all streams and tells the owner, as if the peer had closed. Idempotent.
  void Close(const std::string& reason);

  // Takes at most so many of the bytes that were held back, and returns how many. Called by
  // WorkerIo::TakeHeldBack, which has taken it from the list.
  size_t TakeHeldBack(size_t most);

  // Writes the pending bytes; called by WorkerIo::Flush.
  void Flush();

 private:
  void OnConnected() override;
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override;
  void OnClosed(const std::string& reason) override;

  void OnOutputPending() override;
  void OnTimer(Instant now) override;

  void HoldBack(ByteSpan rest, const Chunk& shared);
  void DropHeldBack();
  void Farewell();
  void EndWriting();
  bool WriteLeftover();
  void ArmSendTimeout();
  bool HeldBack() const { return session_.queued_bytes() > 0; }
  bool TookSome() const;
  void EndStalledCalls();

  WorkerIo& io_;
  const bool server_;
  const absl::Duration send_timeout_;
  Http2ConnectionOwner& owner_;
  h2::Session session_;
  net::Socket socket_;
  bool open_;  // connected and not closed
  bool closed_ = false;
  bool broken_ = false;          // the peer broke the protocol: close once GOAWAY is written
  std::vector<Chunk> leftover_;  // serialised and not taken by the kernel yet
  uint64_t written_ = 0;         // of the session's output
  // As the timer last found them: whether bytes waited for the kernel, the bytes that it had taken,
  // how many of them the peer had not, the bytes of bodies, and since when none has changed.
  bool seen_leftover_ = false;
  uint64_t seen_written_ = 0;
  uint64_t seen_body_bytes_ = 0;
  size_t seen_unacknowledged_ = 0;
  Instant stalled_since_;
  Instant received_at_;
  UnfinishedBlock unfinished_{*this};
  HeldInput held_back_{*this};
};

}  // namespace levee
