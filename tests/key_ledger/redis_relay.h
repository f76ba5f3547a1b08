// SPDX-License-Identifier: Apache-2.0
// Stands between the sidecars and Redis, as an address that stays when the server behind it
// changes, and cuts connections at the messages that it passes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/random.h"
#include "ledger/loop.h"

namespace levee::ledger {

// Where in a message a connection is cut.
enum class CutAt : uint8_t { kBefore, kWithin, kAfter };
inline constexpr size_t kCuts = 3;

class RedisRelay final : private Ready {
 public:
  RedisRelay(Loop& loop, uint64_t seed);
  ~RedisRelay() override;
  RedisRelay(const RedisRelay&) = delete;
  RedisRelay& operator=(const RedisRelay&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // New connections go to this port of loopback; those that there are end with their server. Any
  // thread.
  void SetTarget(uint16_t port) { target_ = port; }

  // [0]: in commands, [1]: in replies.
  using Cuts = std::array<std::array<uint64_t, kCuts>, 2>;
  const Cuts& cuts() const { return cuts_; }

 private:
  class Pair;

  void OnReady(uint32_t events) override;
  // How many messages of a connection and direction pass before the one that is cut.
  uint64_t Draw();

  Loop& loop_;
  Random random_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<uint16_t> target_ = 0;
  Cuts cuts_{};
  std::set<std::shared_ptr<Pair>> pairs_;
};

}  // namespace levee::ledger
