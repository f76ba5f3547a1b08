// SPDX-License-Identifier: Apache-2.0
#include "store/redis_protocol.h"

#include <hiredis.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"

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
RedisReader::Reading& ReadingOf(const redisReadTask* task) {
  return *static_cast<RedisReader::Reading*>(task->privdata);
}

RedisReply* PlaceOf(const redisReadTask* task) {
  if (task->parent == nullptr) return &ReadingOf(task).reply;
  auto* const list = static_cast<RedisReply*>(task->parent->obj);
  return &list->list.emplace_back();  // They come in their order.
}

// Counts what the reply is about to take. Returns false, which the reader takes for the end of its
// memory, if that is too much.
bool TakeMemory(const redisReadTask* task, size_t bytes) {
  size_t& memory = ReadingOf(task).memory;
  memory += bytes;
  return memory <= RedisReader::kMostMemory;
}

void* PutText(const redisReadTask* task, char* text, size_t size) {
  if (!TakeMemory(task, size)) return nullptr;
  RedisReply* const reply = PlaceOf(task);
  reply->kind = task->type == REDIS_REPLY_STATUS  ? Kind::kStatus
                : task->type == REDIS_REPLY_ERROR ? Kind::kError
                                                  : Kind::kText;
  reply->text.assign(text, size);
  if (reply->kind != Kind::kText) {
    size_t& longest = ReadingOf(task).longest_line;
    longest = std::max(longest, size);
  }
  return reply;
}

// A list grows as its elements come, so that a size that a peer says takes no memory.
void* PutList(const redisReadTask* task, int elements) {
  if (!TakeMemory(task, static_cast<size_t>(elements) * RedisReader::kElementMemory)) {
    return nullptr;
  }
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
  reader_->privdata = &reading_;
}

RedisReader::~RedisReader() = default;

void RedisReader::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

void RedisReader::Feed(ByteSpan bytes) {
  if (!failure_.ok()) return;
  // A failure shows in the next GetReply.
  redisReaderFeed(reader_.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bytes_ += bytes.size();
}

absl::StatusOr<std::optional<RedisReply>> RedisReader::Next() {
  if (!failure_.ok()) return failure_;
  void* read = nullptr;
  const bool is_read = redisReaderGetReply(reader_.get(), &read) == REDIS_OK;
  if (reading_.memory > kMostMemory) {
    failure_ = absl::ResourceExhaustedError(
        absl::StrCat("its reply would take more than ", kMostMemory, " bytes of memory"));
    return failure_;
  }
  if (!is_read) {
    failure_ = absl::InternalError(absl::StrCat("no reply of Redis: ", reader_->errstr));
    return failure_;
  }
  const size_t unread = reader_->len - reader_->pos;
  failure_ = read == nullptr ? CheckPart(unread) : CheckSize(bytes_ - unread);
  if (!failure_.ok()) return failure_;
  if (read == nullptr) return std::nullopt;
  bytes_ = unread;
  return std::exchange(reading_, Reading()).reply;
}

absl::Status RedisReader::CheckSize(size_t bytes) const {
  if (bytes > kMostBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its reply has more than ", kMostBytes, " bytes"));
  }
  if (reading_.longest_line > kMostLine) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its reply has a line of more than ", kMostLine, " bytes"));
  }
  return absl::OkStatus();
}

// For a reply that goes on. Its unread bytes begin with a line, which may be the size of a text.
absl::Status RedisReader::CheckPart(size_t unread) {
  const std::string_view rest(reader_->buf + reader_->pos, unread);
  const bool in_text =
      reader_->ridx >= 0 && reader_->rstack[reader_->ridx].type == REDIS_REPLY_STRING;
  size_t bytes = bytes_;
  int64_t size = 0;
  const size_t line = std::min(rest.find(kLineEnd), rest.size());
  if (!in_text || line == rest.size()) {
    reading_.longest_line = std::max(reading_.longest_line, line);
  } else if (absl::SimpleAtoi(Abseil(rest.substr(0, line)), &size) && size > 0) {
    bytes = std::max(bytes, bytes_ - unread + static_cast<size_t>(size));
  }
  return CheckSize(bytes);
}

}  // namespace levee
