// SPDX-License-Identifier: Apache-2.0
#include "wire/priority.h"

#include <charconv>

namespace levee {
namespace {

constexpr int kLeast = 127;

bool IsKeyChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
         c == '*';
}

bool IsBareChar(char c) { return c > ' ' && c < 0x7f && c != ';' && c != ',' && c != '"'; }

// Reads what is left of a field from its start.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }

  bool Take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void SkipSpaces() {
    while (Take(' ')) {
    }
  }

  template <typename Is>
  std::string_view TakeWhile(Is is) {
    size_t size = 0;
    while (size < text_.size() && is(text_[size])) ++size;
    return TakeFirst(size);
  }

  // Takes a string with its quotes; empty if it does not end.
  std::string_view TakeString() {
    for (size_t i = 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c < ' ' || c >= 0x7f) return {};
      if (c == '"') return TakeFirst(i + 1);
      if (c == '\\') ++i;
    }
    return {};
  }

  // Takes the value of a parameter; empty if there is none.
  std::string_view TakeValue() {
    return text_.starts_with('"') ? TakeString() : TakeWhile(IsBareChar);
  }

 private:
  std::string_view TakeFirst(size_t size) {
    const std::string_view first = text_.substr(0, size);
    text_.remove_prefix(size);
    return first;
  }

  std::string_view text_;
};

}  // namespace

std::optional<CallPriority> ParsePriority(std::string_view text) {
  CallPriority priority;
  Reader reader(text);
  reader.SkipSpaces();
  const std::string_view digits = reader.TakeWhile([](char c) { return c >= '0' && c <= '9'; });
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), priority.number);
  if (error != std::errc() || priority.number > kLeast) return std::nullopt;
  while (reader.Take(';')) {
    reader.SkipSpaces();
    const std::string_view key = reader.TakeWhile(IsKeyChar);
    if (key.empty() || key[0] < 'a' || key[0] > 'z') return std::nullopt;
    if (!reader.Take('=')) continue;  // It is true, which is no user.
    const std::string_view value = reader.TakeValue();
    if (value.empty()) return std::nullopt;
    if (key == "u") priority.user = value;
  }
  reader.SkipSpaces();
  if (!reader.done()) return std::nullopt;
  return priority;
}

// FNV-1a (RFC 9923) over the bytes, then the finaliser of MurmurHash3, so that neighbours of a
// counter lie far apart.
uint64_t HashOfUser(std::string_view user, int64_t hour) {
  uint64_t hash = 0xcbf29ce484222325 ^ static_cast<uint64_t>(hour) * 0x9e3779b97f4a7c15;
  for (const char c : user) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

}  // namespace levee
