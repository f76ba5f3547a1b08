// SPDX-License-Identifier: Apache-2.0
// Sends commands to Redis: to one server, to a cluster, or to the primary that sentinels name.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/block_cache.h"
#include "base/instant.h"
#include "base/server_address.h"
#include "base/timer_wheel.h"
#include "store/node_map.h"
#include "store/primary_search.h"
#include "store/redis_connection.h"
#include "store/redis_script.h"
#include "store/sentinel_question.h"
#include "tls/client_source.h"

namespace levee {

// Where Redis is, and how to speak to it.
struct RedisTarget {
  struct Login {
    std::string username;  // empty: Redis' own default
    std::string password;  // empty: none is asked for
  };

  // One server, some nodes of a cluster, or the sentinels of `master`. At least one.
  std::vector<ServerAddress> servers;
  std::string master = {};  // empty: there are no sentinels
  Login login = {};
  Login sentinel_login = {};
  absl::Duration timeout = absl::Milliseconds(50);   // of a command, from Send to its reply
  absl::Duration patience = RedisServer().patience;  // with a server that does not answer
  std::optional<tls::ClientSource> tls = {};         // nullopt: without TLS
};

// A server to which commands are sent.
struct RedisNode {
  ServerAddress address;
  bool ready = false;
  std::string reason;  // why it is not
};

// Receives what the client does, for metrics. The interface inverts a dependency: metrics belong to
// a layer that does not know stores.
class RedisObserver {
 public:
  using Result = RedisConnectionHandler::Result;

  // A command has ended after `took`. One that is sent on to another node counts for each.
  virtual void OnCommand(Result result, absl::Duration took) = 0;

  // A handshake of TLS with a node or a sentinel has ended, `took` after its connection was begun.
  virtual void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) = 0;

  // Commands for every key can be sent from now on, or for some they cannot. `reason`: why not. The
  // latter is told each time a connection is lost or is not made.
  virtual void OnConnected(bool connected, const std::string& reason) = 0;

 protected:
  ~RedisObserver() = default;
};

// Keeps the connections. NodeMap and PrimarySearch decide where commands go. One thread, that of
// the loop.
class RedisClient final : private RedisConnectionHandler, private Timer {
 public:
  // As those of RedisConnection. In a cluster a command may wait, within its timeout, for the first
  // connection to a node.
  using Done = RedisConnection::Done;

  // `observer` may be nullptr, and outlives it.
  RedisClient(const RedisConnection::Parts& parts, RedisTarget target,
              RedisObserver* observer = nullptr);
  ~RedisClient() override;
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  // Whether commands for every key can be sent.
  bool connected() const { return nodes_.complete(); }

  // Sends what is queued. To be called at the end of each turn of the loop.
  void Flush();

  // Whether several nodes share the keys.
  bool cluster() const { return nodes_.cluster(); }

  // Returns the servers to which there are connections, or are to be, ordered by address. Of
  // sentinels that is the primary.
  std::vector<RedisNode> Nodes() const;

  // Grows whenever Nodes or cluster may have changed.
  uint64_t changes() const { return changes_; }

  // The next connections are made so. `tls` is as before but for the content of files.
  void SetTls(const std::optional<tls::ClientSource>& tls);

  // Queues a command that has this key and no other. Calls `done` once; at once if the command
  // cannot be sent, and at the latest when the client is destroyed. `done` must not destroy it.
  void Send(std::string_view key, std::span<const std::string_view> command, Done done);

  // Runs a script, which is sent as a whole only if the server does not know it, and outlives the
  // client.
  void Run(const RedisScript& script, std::string_view key, std::span<const std::string_view> args,
           Done done);

 private:
  // A command that may be sent on.
  struct Routed : InBlocks {
    std::string key;
    std::string command;                  // as bytes
    const RedisScript* script = nullptr;  // that the command names; nullptr: none
    Done done;
    Instant give_up;
    int redirections = 0;
    const RedisConnection* sent_on = nullptr;
  };
  using RoutedPtr = std::unique_ptr<Routed>;

  // One that waits for a connection.
  struct Held {
    ServerAddress to;
    bool asking;
    RoutedPtr routed;
  };

  // For the connections.
  void OnCommand(Result result, absl::Duration took) override;
  void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) override;
  void OnReady(const ServerAddress& server) override;
  void OnLost(const ServerAddress& server, const std::string& reason) override;

  void OnTimer(Instant now) override;
  Instant NextRefresh() const;
  void Rearm();
  void SyncLater();
  void Sync();
  void TellIfConnected();
  void TellAway(const std::string& reason);
  RedisConnection* ConnectionTo(const ServerAddress& node);
  void Route(RoutedPtr routed);
  void SendTo(const ServerAddress& node, bool asking, RoutedPtr routed);
  void OnReply(const absl::StatusOr<RedisReply>& reply, RoutedPtr routed);
  template <typename Condition>
  std::list<Held> TakeHeld(const Condition& condition);
  template <typename Condition>
  void FailHeld(const Condition& condition);
  void Refresh(Instant now);
  void AskSentinel();
  void OnSentinel(const absl::StatusOr<RedisReply>& reply);

  const RedisConnection::Parts parts_;
  RedisTarget target_;
  RedisObserver* const observer_;
  NodeMap nodes_;
  std::optional<PrimarySearch> search_;
  std::unique_ptr<SentinelQuestion> question_;
  std::map<ServerAddress, std::unique_ptr<RedisConnection>> connections_;
  std::list<Held> held_;
  size_t refreshes_ = 0;
  uint64_t changes_ = 0;
  bool told_connected_ = false;
  bool sync_posted_ = false;
  std::string reason_ = "not connected yet";  // why some commands cannot be sent
  // Guards what is posted.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee
