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

// Reads the replies on one connection.
class RedisReader {
 public:
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
  RedisReply reply_;  // which is being read
  const std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace levee
