// SPDX-License-Identifier: Apache-2.0
// The rate limit service of Envoy's project, with a Redis of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "integration/child.h"
#include "store/redis_process.h"

namespace levee {

// Listens on a port of loopback that stays the same over Restart, and ends with this object. Starts
// on construction, and is ready after it.
class RealLimitService {
 public:
  // Why it cannot be run here; empty: it can.
  static std::string Missing();

  // `limits`: the service's configuration, YAML, of the domain shop.
  explicit RealLimitService(const std::string& limits);
  ~RealLimitService();

  uint16_t port() const { return port_; }
  RedisProcess& redis() { return redis_; }

  void Kill();
  // After Kill.
  void Restart();

 private:
  bool Start();

  RedisProcess redis_;
  std::filesystem::path folder_;
  uint16_t port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace levee
