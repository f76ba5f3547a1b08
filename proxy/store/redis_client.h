// SPDX-License-Identifier: Apache-2.0
// Sends commands to one Redis server, many at a time on one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "store/redis_protocol.h"
#include "store/redis_script.h"

namespace levee {

// A server, and how to speak to it.
struct RedisTarget {
  std::string host;  // a name or an IP address
  uint16_t port = 6379;
  std::string username;                             // empty: Redis' own default
  std::string password;                             // empty: the server asks for none
  absl::Duration timeout = absl::Milliseconds(50);  // of a command, from Send to its reply
};

// Receives what the client does, for metrics. The interface inverts a dependency: metrics belong to
// a layer that does not know stores.
class RedisObserver {
 public:
  enum class Result : uint8_t { kOk, kError, kTimeout, kUnavailable };

  // A command has ended after `took`.
  virtual void OnCommand(Result result, absl::Duration took) = 0;

  // Commands can be sent from now on, or they cannot. `reason`: why not. The latter is told each
  // time a connection is lost or is not made.
  virtual void OnConnected(bool connected, const std::string& reason) = 0;

 protected:
  ~RedisObserver() = default;
};

// Connects at once, and again whenever the connection is lost. Commands are answered in the order
// in which they were sent. None waits for a connection. One thread, that of the loop.
class RedisClient final : private net::SocketHandler, private Timer {
 public:
  // An error reply of Redis is a reply. Without a reply: DeadlineExceeded after the timeout, when
  // the command may have run; Unavailable without a connection, or when it was lost;
  // ResourceExhausted with kMostPending commands under way.
  using Done = absl::AnyInvocable<void(const absl::StatusOr<RedisReply>&)>;

  static constexpr size_t kMostPending = 10'000;

  // All references outlive it; `wheel` is of the loop. `observer` may be nullptr.
  RedisClient(net::EventLoop& loop, TimerWheel& wheel, net::Resolver& resolver, Random& random,
              RedisTarget target, RedisObserver* observer = nullptr);
  ~RedisClient() override;
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  bool connected() const { return state_ == State::kReady; }

  // Sends a command. Calls `done` once; at once if the command cannot be sent, and at the latest
  // when the client is destroyed. `done` must not destroy the client.
  void Send(std::span<const std::string> command, Done done);

  // Runs a script, which is sent as a whole only if the server does not know it.
  void Run(const RedisScript& script, std::vector<std::string> keys, std::vector<std::string> args,
           Done done);

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
  void Queue(std::span<const std::string> command, Done done);
  void OnReply(const RedisReply& reply);
  void TimeOut(Instant now);
  void Flush();
  void DropLater(std::string reason);
  void Drop(const std::string& reason);
  void Tell(Pending pending, const absl::StatusOr<RedisReply>& reply);
  void Observe(RedisObserver::Result result, absl::Duration took);
  void Rearm() { wheel_.Arm(*this, NextTimer()); }

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  net::Resolver& resolver_;
  Random& random_;
  const RedisTarget target_;
  RedisObserver* const observer_;

  State state_ = State::kAway;
  std::string reason_ = "not connected yet";  // why it is not ready
  Instant next_step_;                         // kAway: when to connect; else when to give that up
  int failures_ = 0;                          // to connect, in a row
  std::unique_ptr<net::Resolver::Query> query_;
  std::optional<net::Socket> socket_;
  std::optional<RedisReader> reader_;
  std::deque<Pending> pending_;  // the oldest first
  size_t timed_out_ = 0;         // of these, at the front
  std::string output_;
  bool flush_posted_ = false;
  std::shared_ptr<bool> connection_;  // guards what is posted for the connection
};

}  // namespace levee
