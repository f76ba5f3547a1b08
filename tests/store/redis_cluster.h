// SPDX-License-Identifier: Apache-2.0
// A cluster of real redis-servers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/server_address.h"
#include "store/redis_process.h"

namespace levee {

// All on loopback, with their files in a folder of the test's. Serves every key after construction.
// A node that is lost leaves the others' keys alone.
class RedisCluster {
 public:
  // `primaries` share the slots evenly; the first `replicas` of them have one each. `empty`: nodes
  // without a slot.
  struct Size {
    size_t primaries = 3;
    size_t replicas = 0;
    size_t empty = 0;
  };

  // Returns the further arguments of a node. With --tls-cluster they give it TLS_PORT.
  using More = std::function<std::vector<std::string>(size_t index)>;

  RedisCluster(const std::string& folder, const Size& size, const More& more = nullptr);

  // Primaries first, then replicas, then those without a slot.
  RedisProcess& node(size_t index) const { return *nodes_[index]; }
  // Kills a node, which the others find out within some seconds.
  void Kill(size_t index) const;

  // By which a client, and the other nodes, know it.
  ServerAddress address(size_t index) const { return {"127.0.0.1", PortOf(index)}; }

  // The index of the primary that had the slot at the start.
  size_t OwnerOf(uint16_t slot) const;

  // The steps of a slot's way from one node to another: both know that it moves; keys, all of which
  // are named, move; all primaries know where it is.
  void BeginToMove(uint16_t slot, size_t from, size_t to) const;
  void MoveKey(const std::string& key, size_t from, size_t to) const;
  void EndMove(uint16_t slot, size_t to) const;

 private:
  uint16_t PortOf(size_t index) const {
    return tls_ ? nodes_[index]->tls_port() : nodes_[index]->port();
  }
  void Meet() const;
  void SetTimeout(size_t index, const std::string& milliseconds) const;
  void AwaitOk(size_t index) const;
  std::string IdOf(size_t index) const;
  std::string Command(size_t index, const std::vector<std::string>& words) const;

  const Size size_;
  const bool tls_;
  std::vector<std::unique_ptr<RedisProcess>> nodes_;
};

}  // namespace levee
