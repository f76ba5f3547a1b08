// SPDX-License-Identifier: Apache-2.0
// The bytes of the ledger's messages, derived from the number of the call they belong to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace levee::ledger {

enum class Direction : uint8_t { kRequest, kAnswer };

// One gRPC message of `size` bytes, with its prefix, as a stream of bytes: no memory but for eight
// bytes and the prefix, since the rest is a stretch of one table that all bodies share.
class Body {
 public:
  static constexpr size_t kPrefixBytes = 5;

  Body() = default;
  Body(uint64_t id, Direction direction, size_t size);

  size_t total() const { return kPrefixBytes + size_; }

  // Copies bytes from `at` on to `to`; returns how many, 0 at the end.
  size_t Read(size_t at, std::span<uint8_t> to) const;

  // Whether `bytes` stand at `at`.
  bool Matches(size_t at, std::span<const uint8_t> bytes) const;

 private:
  // The bytes at `at` that lie together; empty at the end.
  std::span<const uint8_t> Stretch(size_t at) const;

  uint8_t head_[kPrefixBytes + sizeof(uint64_t)] = {};
  size_t size_ = 0;
  size_t offset_ = 0;  // in the table
};

}  // namespace levee::ledger
