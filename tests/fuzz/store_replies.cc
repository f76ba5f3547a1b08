// SPDX-License-Identifier: Apache-2.0
#include "fuzz/store_replies.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

constexpr int kMostDepth = 3;

std::string Bulk(std::string_view text) {
  return absl::StrCat("$", text.size(), "\r\n", absl::string_view(text.data(), text.size()),
                      "\r\n");
}

// A number of the few that matter, or any.
int64_t Number(ByteSource& source) {
  constexpr std::array<int64_t, 12> kSome = {0,     1,     2,     -1,    -2,        16383,
                                             16384, 65535, 65536, 5'000, INT64_MAX, INT64_MIN};
  const uint64_t which = source.Below(2 * kSome.size());
  return which < kSome.size() ? kSome[which] : static_cast<int64_t>(source.Below(20'000));
}

std::string Integer(int64_t number) { return absl::StrCat(":", number, "\r\n"); }

std::string Host(ByteSource& source) {
  constexpr std::array<std::string_view, 6> kHosts = {"redis-0", "redis-1", "10.0.0.7",
                                                      "::1",     "?",       ""};
  const uint64_t which = source.Below(kHosts.size() + 1);
  return which < kHosts.size() ? std::string(kHosts[which]) : source.Take(source.Below(8));
}

std::string Redirection(ByteSource& source, uint16_t slot) {
  const int64_t to = source.Below(4) > 0 ? slot : Number(source);
  return absl::StrCat(source.Flag() ? "-MOVED " : "-ASK ", to, " ", Host(source), ":",
                      source.Flag() ? int64_t{6379} : Number(source), "\r\n");
}

std::string Slots(ByteSource& source) {
  const uint64_t ranges = source.Below(4);
  std::string list = absl::StrCat("*", ranges, "\r\n");
  int64_t from = 0;
  for (uint64_t i = 0; i < ranges; ++i) {
    const bool good = source.Below(4) > 0;
    const int64_t to = i + 1 == ranges ? 16383 : from + static_cast<int64_t>(source.Below(8192));
    list += "*3\r\n" + Integer(good ? from : Number(source)) + Integer(good ? to : Number(source)) +
            "*2\r\n" + Bulk(Host(source)) +
            Integer(good ? 6379 + static_cast<int64_t>(i) : Number(source));
    from = to + 1;
  }
  return list;
}

// A key's value and its life, as the script returns them.
std::string Claim(ByteSource& source) {
  std::string value = {source.Flag() ? 'o' : 'e', source.Flag() ? '1' : '0'};
  value += "0123456789abcdef";
  value += source.Below(4) > 0 ? "0000086400000" : source.Take(13);
  value += source.Flag() ? std::string(32, 'd') : source.Take(source.Below(40));
  value += source.Take(source.Below(64));
  return "*2\r\n" + Bulk(value) + Integer(Number(source));
}

std::string Line(ByteSource& source) {
  constexpr std::array<std::string_view, 8> kLines = {
      "+OK\r\n", "$-1\r\n",       "*-1\r\n",          "*0\r\n",
      ":1\r\n",  "-NOSCRIPT\r\n", "-CLUSTERDOWN\r\n", "-READONLY x\r\n"};
  return std::string(kLines[source.Below(kLines.size())]);
}

std::string Bytes(ByteSource& source, uint16_t slot, int depth) {
  switch (source.Below(8)) {
    case 0:
      return Redirection(source, slot);
    case 1:
      return Slots(source);
    case 2:
      return "*2\r\n" + Bulk(Host(source)) + Bulk(absl::StrCat(Number(source)));
    case 3:
      return "*2\r\n" + Integer(Number(source)) + Integer(Number(source));
    case 4:
      return Claim(source);
    case 5:
      return Line(source);
    case 6: {
      if (depth == kMostDepth) return Line(source);
      const uint64_t parts = source.Below(4);
      std::string list = absl::StrCat("*", parts, "\r\n");
      for (uint64_t i = 0; i < parts; ++i) list += Bytes(source, slot, depth + 1);
      return list;
    }
    default:
      return source.Take(source.Byte());
  }
}

bool Same(const RedisReply& a, const RedisReply& b) {
  return a.kind == b.kind && a.text == b.text && a.integer == b.integer &&
         std::ranges::equal(a.list, b.list, Same);
}

struct All {
  std::vector<RedisReply> replies;
  bool failed = false;
};

void ReadAll(RedisReader& reader, All& all) {
  while (!all.failed) {
    auto reply = reader.Next();
    all.failed = !reply.ok();
    if (all.failed || !reply->has_value()) return;
    all.replies.push_back(**std::move(reply));
  }
}

All Read(const std::string& bytes, size_t piece) {
  RedisReader reader;
  All all;
  for (size_t from = 0; from < bytes.size() && !all.failed; from += piece) {
    const size_t size = std::min(piece, bytes.size() - from);
    reader.Feed({reinterpret_cast<const uint8_t*>(bytes.data()) + from, size});
    ReadAll(reader, all);
  }
  return all;
}

}  // namespace

std::optional<RedisReply> NextReply(ByteSource& source, uint16_t slot) {
  const size_t piece = 1 + source.Below(16);
  const std::string bytes = Bytes(source, slot, 0);
  const All whole = Read(bytes, bytes.size() + 1);
  const All pieces = Read(bytes, piece);
  LEVEE_CHECK(whole.failed == pieces.failed);
  LEVEE_CHECK(std::ranges::equal(whole.replies, pieces.replies, Same));
  if (whole.replies.empty()) return std::nullopt;
  return whole.replies.front();
}

std::string NextAnswer(ByteSource& source) {
  const std::string message = source.Take(source.Below(64));
  if (source.Below(8) == 0) return message;
  return std::string("\0\0\0\0", 4) + static_cast<char>(message.size()) + message;
}

}  // namespace levee
