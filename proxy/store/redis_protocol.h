// SPDX-License-Identifier: Apache-2.0
// Redis' protocol (RESP 2): commands into bytes, and bytes into replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/chunk.h"

struct redisReader;

namespace levee {

// A reply as a value.
struct RedisReply {
  enum class Kind : uint8_t { kNil, kStatus, kError, kInteger, kText, kList };

  bool IsError(std::string_view code) const;  // "NOSCRIPT"

  Kind kind = Kind::kNil;
  std::string text;  // of kStatus, kError and kText; any bytes
  int64_t integer = 0;
  std::vector<RedisReply> list;
};

// Returns the bytes of a command: its name and arguments, any bytes.
std::string FormatRedisCommand(std::span<const std::string_view> words);

// Reads the replies on one connection. A reply beyond the bounds is an error as soon as it says how
// long it is, or is that long. Nothing that Levee asks for comes near them: the longest are a
// stored answer, 4 MiB and its head, and the slots of a cluster of 1000 nodes, which have some
// ranges each.
class RedisReader {
 public:
  static constexpr size_t kMostBytes = 5 << 20;    // of a reply
  static constexpr size_t kMostMemory = 12 << 20;  // bytes that its texts and its elements take
  static constexpr size_t kMostLine = 64 << 10;    // bytes of what is no text with a size

  // Memory of an element of a list, its text apart. Lists that grow have room for twice as many.
  static constexpr size_t kElementMemory = 2 * sizeof(RedisReply);

  // The next reply, as far as it has been read.
  struct Reading {
    RedisReply reply;
    size_t memory = 0;        // bytes, of all elements that its lists have announced
    size_t longest_line = 0;  // bytes
  };

  RedisReader();
  ~RedisReader();
  RedisReader(const RedisReader&) = delete;
  RedisReader& operator=(const RedisReader&) = delete;

  void Feed(ByteSpan bytes);

  // Returns the next reply; nullopt if its bytes have not come yet. After an error nothing more can
  // be read.
  absl::StatusOr<std::optional<RedisReply>> Next();

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  absl::Status CheckSize(size_t bytes) const;
  absl::Status CheckPart(size_t unread);

  Reading reading_;
  size_t bytes_ = 0;      // that have come since the last reply
  absl::Status failure_;  // the first, after which nothing is read
  const std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace levee
