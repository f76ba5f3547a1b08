// SPDX-License-Identifier: Apache-2.0
#include "store/redis_protocol.h"

#include <hiredis.h>

#include <charconv>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Bytes of a mark, a number and a line's end.
constexpr size_t kMostNumberBytes = 24;

void AppendNumber(char mark, size_t number, std::string& to) {
  char digits[kMostNumberBytes];
  char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  to += mark;
  to.append(digits, end);
  to += kLineEnd;
}

using Kind = RedisReply::Kind;

// hiredis' reader has these called, which fill RedisReply, in place of its own, which allocate what
// would be copied then.
RedisReply* PlaceOf(const redisReadTask* task) {
  if (task->parent == nullptr) return static_cast<RedisReply*>(task->privdata);
  auto* const list = static_cast<RedisReply*>(task->parent->obj);
  return &list->list.emplace_back();  // They come in their order.
}

void* PutText(const redisReadTask* task, char* text, size_t size) {
  RedisReply* const reply = PlaceOf(task);
  reply->kind = task->type == REDIS_REPLY_STATUS  ? Kind::kStatus
                : task->type == REDIS_REPLY_ERROR ? Kind::kError
                                                  : Kind::kText;
  reply->text.assign(text, size);
  return reply;
}

// A list grows as its elements come, so that a size that a peer says takes no memory.
void* PutList(const redisReadTask* task, int) {
  RedisReply* const reply = PlaceOf(task);
  reply->kind = Kind::kList;
  return reply;
}

void* PutInteger(const redisReadTask* task, long long number) {  // NOLINT(google-runtime-int)
  RedisReply* const reply = PlaceOf(task);
  reply->kind = Kind::kInteger;
  reply->integer = number;
  return reply;
}

void* PutNil(const redisReadTask* task) { return PlaceOf(task); }

redisReplyObjectFunctions functions = {
    .createString = PutText,
    .createArray = PutList,
    .createInteger = PutInteger,
    .createNil = PutNil,
    .freeObject = [](void*) {},  // The reader has it.
};

}  // namespace

bool RedisReply::IsError(std::string_view code) const {
  return kind == Kind::kError && text.starts_with(code);
}

std::string FormatRedisCommand(std::span<const std::string_view> words) {
  size_t bytes = kMostNumberBytes;
  for (const std::string_view word : words) bytes += kMostNumberBytes + word.size();
  std::string command;
  command.reserve(bytes);
  AppendNumber('*', words.size(), command);
  for (const std::string_view word : words) {
    AppendNumber('$', word.size(), command);
    command += word;
    command += kLineEnd;
  }
  return command;
}

RedisReader::RedisReader() : reader_(redisReaderCreateWithFunctions(&functions)) {
  LEVEE_CHECK(reader_ != nullptr);
  reader_->privdata = &reply_;
}

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
  return std::exchange(reply_, RedisReply());
}

}  // namespace levee
