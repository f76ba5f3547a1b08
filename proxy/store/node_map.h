// SPDX-License-Identifier: Apache-2.0
// Which node of Redis has which key, and what its replies say about that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/server_address.h"
#include "store/redis_protocol.h"

namespace levee {

// Decides without I/O and clock. Of one server that is no cluster's it says that it has all keys. A
// server that answers MOVED or ASK is a cluster's, however many were configured.
class NodeMap {
 public:
  // Says what follows from a reply.
  struct Step {
    enum class Kind : uint8_t {
      kDeliver,  // it is the answer
      kMoved,    // the command is to be sent to `to`
      kAsk,      // the same, with ASKING before it, for this once
    };
    Kind kind = Kind::kDeliver;
    ServerAddress to;
  };

  // A command is sent on so often. More only happens where nodes contradict each other.
  static constexpr int kMostRedirections = 5;

  // The map is asked for at most so often.
  static constexpr absl::Duration kRefreshEvery = absl::Milliseconds(500);

  // More nodes with slots, or without, are none of a cluster that Redis' makers advise.
  static constexpr size_t kMostNodes = 1000;

  // A node that has no slot yet, and gets one, stays known for so long after a command for it.
  static constexpr absl::Duration kGuestStays = absl::Minutes(1);

  // `servers`: one, or some nodes of a cluster; none: nobody knows yet.
  explicit NodeMap(std::vector<ServerAddress> servers);

  // From now on this server has all keys.
  void Be(ServerAddress server);

  bool cluster() const { return cluster_; }

  // Returns where commands for the key go; nullptr: nobody is there. Valid until the next call that
  // changes the map.
  const ServerAddress* NodeOf(std::string_view key) const;

  // Takes a reply of `from` to a command for `key` that was sent on `redirections` times before.
  Step OnReply(std::string_view key, const ServerAddress& from, const RedisReply& reply,
               int redirections, Instant now);

  void OnReady(const ServerAddress& node) { ready_.insert(node); }

  // There is no connection to the node any more, since none is needed.
  void Forget(const ServerAddress& node) { ready_.erase(node); }

  // A connection was lost, or was not made: another node may have its slots soon.
  void OnLost(const ServerAddress& node);

  // Takes the reply of `from` to CLUSTER SLOTS. After an error the map is as before.
  absl::Status Learn(const RedisReply& reply, const ServerAddress& from);

  // Returns the nodes to which connections are kept, each once: those that have slots, and while
  // none of them is ready those that were configured too.
  std::vector<ServerAddress> Nodes(Instant now) const;

  // Returns when a node is to be asked for the map; Infinite: there is no need.
  Instant NextRefresh() const;
  void OnAsked(Instant now);

  // Whether every key has a node that is ready.
  bool complete() const;

 private:
  static constexpr int16_t kNobody = -1;

  // -1: there is no room for one more.
  int16_t IndexOf(const ServerAddress& node);
  bool MakeGuest(const ServerAddress& node, Instant now);
  std::set<ServerAddress> Owners() const;

  std::vector<ServerAddress> servers_;
  bool cluster_ = false;
  std::vector<ServerAddress> nodes_;         // of the cluster, and those that were in it
  std::vector<int16_t> owners_;              // of each slot: an index into nodes_, or kNobody
  std::set<ServerAddress> ready_;            // that are connected
  std::map<ServerAddress, Instant> guests_;  // without a slot so far; until when they stay known
  bool stale_ = false;                       // whether the map may be wrong
  bool refused_ = false;                     // whether the last one who was asked had no map
  Instant may_ask_;
};

}  // namespace levee
