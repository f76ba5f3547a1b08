// SPDX-License-Identifier: Apache-2.0
// Two Redis servers, one of which follows the other, and what befalls them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "key_ledger/key_book.h"
#include "key_ledger/redis_relay.h"
#include "store/redis_process.h"

namespace levee::ledger {

// In a thread of its own, which starts the servers and outlives them.
class RedisTrouble {
 public:
  // Both servers keep what they have below `folder`. All references outlive it.
  RedisTrouble(RedisRelay& relay, KeyBook& book, const std::string& folder);

  // Lets trouble come evenly over `calls` calls, each kind in its turn, or until the book is
  // finished.
  void Run(uint64_t calls);

  uint64_t kills() const { return kills_; }
  uint64_t stops() const { return stops_; }
  uint64_t failovers() const { return failovers_; }

 private:
  void Kill();
  void Stop();
  void FailOver();
  void Follow();
  bool Await(const std::function<bool()>& condition) const;
  RedisProcess& primary() { return *servers_[primary_]; }
  RedisProcess& replica() { return *servers_[1 - primary_]; }

  RedisRelay& relay_;
  KeyBook& book_;
  const std::array<std::string, 2> folders_;
  std::array<std::unique_ptr<RedisProcess>, 2> servers_;
  size_t primary_ = 0;
  uint64_t kills_ = 0;
  uint64_t stops_ = 0;
  uint64_t failovers_ = 0;
};

}  // namespace levee::ledger
