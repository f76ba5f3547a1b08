// SPDX-License-Identifier: Apache-2.0
// Sends commands to one Redis server, many at a time on one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "base/server_address.h"
#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "store/redis_protocol.h"
#include "tls/client_source.h"

namespace levee {

// A server, and how to speak to it.
struct RedisServer {
  ServerAddress address;
  std::string username;                             // empty: Redis' own default
  std::string password;                             // empty: the server asks for none
  absl::Duration timeout = absl::Milliseconds(50);  // of a command, from Send to its reply
  // A connection is given up that is not made within this, or on which a command waits for so long.
  absl::Duration patience = absl::Seconds(1);
  std::optional<tls::ClientSource> tls;  // nullopt: without TLS
  bool primary = false;                  // whether it must say that it is one
};

// Receives what a connection does. The interface inverts a dependency: who has several connections
// knows them, and not they it.
class RedisConnectionHandler {
 public:
  enum class Result : uint8_t { kOk, kError, kTimeout, kUnavailable };

  // A command has ended after `took`. A reply that leads to another server is kOk.
  virtual void OnCommand(Result result, absl::Duration took) = 0;

  // A handshake of TLS with the server has ended, `took` after the connection was begun.
  virtual void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) = 0;

  // Commands can be sent from now on.
  virtual void OnReady(const ServerAddress& server) = 0;

  // The connection is lost, or was not made, for `reason`. It is tried again by itself.
  virtual void OnLost(const ServerAddress& server, const std::string& reason) = 0;

 protected:
  ~RedisConnectionHandler() = default;
};

// Connects at once, and again whenever the connection is lost. Commands are answered in the order
// in which they were sent. None waits for a connection. One thread, that of the loop.
class RedisConnection final : private net::SocketHandler, private Timer {
 public:
  // An error reply of Redis is a reply. Without a reply: DeadlineExceeded after the timeout, or
  // Unavailable when the connection was lost, and the command may have run;
  // FailedPrecondition without a connection, or ResourceExhausted with kMostPending commands under
  // way, and it surely has not.
  using Done = absl::AnyInvocable<void(const absl::StatusOr<RedisReply>&)>;

  static constexpr size_t kMostPending = 10'000;

  // Names what connections need. All of it outlives them; the wheel is of the loop.
  struct Parts {
    net::EventLoop& loop;
    TimerWheel& wheel;
    net::Resolver& resolver;
    Random& random;
  };

  // `handler` outlives it, and does not destroy it when it is called.
  RedisConnection(const Parts& parts, RedisServer server, RedisConnectionHandler& handler);
  ~RedisConnection() override;
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  bool ready() const { return state_ == State::kReady; }

  // Whether it is being made for the first time.
  bool in_making() const { return state_ != State::kReady && failures_ == 0; }

  // Why it is not ready.
  const std::string& reason() const { return reason_; }

  // The next connection is made so. `tls` is as before but for the content of files.
  void SetTls(const std::optional<tls::ClientSource>& tls) { server_.tls = tls; }

  // Queues a command, which is the bytes of FormatRedisCommand. Calls `done` once; at once if the
  // command cannot be sent, and at the latest when the connection is destroyed. `done` must not
  // destroy it.
  void Send(std::string_view command, Done done);

  // Sends what is queued. To be called at the end of each turn, so that all commands of a turn go
  // out together.
  void Flush();

  const ServerAddress& address() const { return server_.address; }

 private:
  enum class State : uint8_t { kAway, kResolving, kGreeting, kReady };

  struct Pending {
    Instant sent;
    Done done;  // empty: it has timed out
  };

  // For the socket.
  void OnConnected() override;
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override { Flush(); }
  void OnClosed(const std::string& reason) override { Drop(reason); }

  void OnTimer(Instant now) override;
  Instant NextTimer() const;
  void Connect();
  void Dial(const absl::StatusOr<net::Resolver::Found>& found);
  void Greet();
  void OnGreeted(const absl::StatusOr<RedisReply>& reply);
  void Queue(std::string_view command, Done done);
  void OnReply(const RedisReply& reply);
  void TimeOut(Instant now);
  void DropLater(std::string reason);
  void Drop(const std::string& reason);
  void TellHandshake();
  void Tell(Pending pending, const absl::StatusOr<RedisReply>& reply);
  void Rearm() { wheel_.Arm(*this, NextTimer()); }

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  net::Resolver& resolver_;
  Random& random_;
  RedisServer server_;
  RedisConnectionHandler& handler_;

  State state_ = State::kAway;
  std::string reason_ = "not connected yet";  // why it is not ready
  Instant next_step_;                         // kAway: when to connect; else when to give that up
  int failures_ = 0;                          // to connect, in a row
  std::unique_ptr<net::Resolver::Query> query_;
  std::optional<net::Socket> socket_;
  Instant dialled_at_;                   // of the socket
  std::optional<Instant> connected_at_;  // likewise; with TLS the end of the handshake
  bool answered_ = false;                // likewise
  std::optional<RedisReader> reader_;
  std::deque<Pending> pending_;  // the oldest first
  size_t timed_out_ = 0;         // of these, at the front
  std::string output_;
  std::shared_ptr<bool> connection_;  // guards what is posted for the connection
};

}  // namespace levee
