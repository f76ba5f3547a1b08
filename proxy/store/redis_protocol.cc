// SPDX-License-Identifier: Apache-2.0
#include "store/redis_protocol.h"

#include <hiredis.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

RedisReply ToReply(const redisReply& from) {
  using Kind = RedisReply::Kind;
  RedisReply reply;
  switch (from.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = Kind::kInteger;
      reply.integer = from.integer;
      break;
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
    case REDIS_REPLY_STRING:
      reply.kind = from.type == REDIS_REPLY_STATUS  ? Kind::kStatus
                   : from.type == REDIS_REPLY_ERROR ? Kind::kError
                                                    : Kind::kText;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = Kind::kList;
      for (size_t i = 0; i < from.elements; ++i) reply.list.push_back(ToReply(*from.element[i]));
      break;
    default:
      break;
  }
  return reply;
}

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

}  // namespace

bool RedisReply::IsError(std::string_view code) const {
  return kind == Kind::kError && text.starts_with(code);
}

// That of hiredis prints numbers by sprintf, an eighth of the instructions of a key in Redis.
std::string FormatRedisCommand(std::span<const std::string> words) {
  std::string command = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) {
    absl::StrAppend(&command, "$", word.size(), "\r\n", word, "\r\n");
  }
  return command;
}

RedisReader::RedisReader() : reader_(redisReaderCreate()) { LEVEE_CHECK(reader_ != nullptr); }

RedisReader::~RedisReader() = default;

void RedisReader::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

void RedisReader::Feed(ByteSpan bytes) {
  // A failure shows in the next GetReply.
  redisReaderFeed(reader_.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::StatusOr<std::optional<RedisReply>> RedisReader::Next() {
  void* read = nullptr;
  if (redisReaderGetReply(reader_.get(), &read) != REDIS_OK) {
    return absl::InternalError(absl::StrCat("no reply of Redis: ", reader_->errstr));
  }
  if (read == nullptr) return std::nullopt;
  const std::unique_ptr<redisReply, FreeReply> reply(static_cast<redisReply*>(read));
  return ToReply(*reply);
}

}  // namespace levee
