// SPDX-License-Identifier: Apache-2.0
#include "wire/priority.h"

#include "absl/strings/str_cat.h"
#include "wire/structured_field.h"

namespace levee {

std::optional<CallPriority> ParsePriority(std::string_view text) {
  constexpr int64_t kLeast = 127;
  std::optional<StructuredItem> item = ParseStructuredItem(text);
  if (!item.has_value() || item->bare.type != BareItem::Type::kInteger) return std::nullopt;
  if (item->bare.integer < 0 || item->bare.integer > kLeast) return std::nullopt;
  CallPriority priority;
  priority.number = static_cast<int>(item->bare.integer);
  if (const BareItem* const user = item->Parameter("u")) {
    priority.user =
        user->type == BareItem::Type::kInteger ? absl::StrCat(user->integer) : user->text;
  }
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
