// SPDX-License-Identifier: Apache-2.0
// A redis-server of a test's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integration/child.h"

namespace levee {

// Whether redis-server is installed. A test that needs it is skipped without it.
bool HasRedis();

// Serves on a port of loopback that stays the same over Restart, keeps nothing on disk, and ends
// with this object. Starts on construction, and is ready after it.
class RedisProcess {
 public:
  // What stands for other_port() and tls_port() in `arguments`.
  static constexpr char kOtherPort[] = "OTHER_PORT";
  static constexpr char kTlsPort[] = "TLS_PORT";

  explicit RedisProcess(std::vector<std::string> arguments = {});

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // More ports of its own, for which arguments may say what they are for.
  uint16_t other_port() const { return other_port_; }
  uint16_t tls_port() const { return tls_port_; }

  void Kill();
  // After Kill.
  void Restart();
  void Signal(int signal) const { child_->Signal(signal); }

  // Runs a command by a connection of its own; returns what redis-cli prints.
  std::string Command(const std::vector<std::string>& words) const;

 private:
  bool Start();

  const std::vector<std::string> arguments_;
  uint16_t port_ = 0;
  uint16_t other_port_ = 0;
  uint16_t tls_port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace levee
