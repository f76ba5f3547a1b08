// SPDX-License-Identifier: Apache-2.0
// A primary, a replica, and three sentinels that watch them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/server_address.h"
#include "integration/child.h"
#include "store/redis_process.h"

namespace levee {

// All on loopback, with their files in a folder of the test's. Ready to fail over after
// construction, which takes about a second.
class SentinelGroup {
 public:
  static constexpr char kMaster[] = "main";

  struct More {
    std::vector<std::string> redis = {};  // arguments of each server
    std::string sentinels = {};           // lines of each sentinel's file
    // By which redis-cli shows who it is to a server, and to a sentinel.
    std::vector<std::string> redis_cli = {};
    std::vector<std::string> sentinel_cli = {};
    // Arguments of servers and sentinels that speak TLS to each other and to clients; the tools of
    // the test speak without it. No ports are among them.
    std::vector<std::string> tls = {};
  };

  SentinelGroup(const std::string& folder, More more);
  explicit SentinelGroup(const std::string& folder) : SentinelGroup(folder, More()) {}

  // By which a client knows them.
  std::vector<ServerAddress> sentinels() const;
  RedisProcess& primary() { return *servers_[primary_]; }
  RedisProcess& replica() { return *servers_[1 - primary_]; }

  // Runs a command at a server; returns what redis-cli prints.
  std::string Command(const RedisProcess& at, std::vector<std::string> words) const;

  // Kills the primary, and waits until the replica has been promoted.
  void KillPrimary();

  // Lets the two change places while both serve.
  void ChangePlaces();

  // Stops a sentinel for good.
  void KillSentinel(size_t index);

 private:
  struct Sentinel {
    uint16_t port = 0;
    uint16_t tls_port = 0;
    std::unique_ptr<Child> child;
  };

  bool tls() const { return !more_.tls.empty(); }
  uint16_t PortOf(const RedisProcess& server) const {
    return tls() ? server.tls_port() : server.port();
  }
  void StartSentinel(Sentinel& sentinel, const std::string& file);
  void Hurry(const Sentinel& sentinel) const;
  std::string AskSentinel(const Sentinel& sentinel, const std::vector<std::string>& words) const;
  void AwaitPromotion();

  const More more_;
  std::array<std::unique_ptr<RedisProcess>, 2> servers_;
  size_t primary_ = 0;
  std::array<Sentinel, 3> sentinels_;
};

}  // namespace levee
