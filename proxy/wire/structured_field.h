// SPDX-License-Identifier: Apache-2.0
// Structured fields (RFC 8941), as far as Levee reads and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace levee {

// Longer values are not read. A field costs its sender one byte where it is in HPACK's table, and
// its reader an allocation for every few bytes of it.
inline constexpr size_t kMaxStructuredBytes = 512;

// One bare item (RFC 8941, section 3.3). Decimals, byte sequences and booleans are only checked for
// their form; their values are not kept.
struct BareItem {
  enum class Type { kInteger, kString, kToken, kOther };
  Type type = Type::kOther;
  int64_t integer = 0;  // kInteger
  std::string text;     // kString (unquoted) and kToken
};

// An item: a bare item and its parameters, in order, with duplicates.
struct StructuredItem {
  BareItem bare;
  std::vector<std::pair<std::string, BareItem>> parameters;

  // Returns the last parameter of that name (the last one wins, section 3.1.2); nullptr if there is
  // none.
  const BareItem* Parameter(std::string_view name) const;
};

// Parses a field value as one item (section 4.2.3). nullopt unless all of it is well-formed,
// and no longer than kMaxStructuredBytes.
std::optional<StructuredItem> ParseStructuredItem(std::string_view value);

// The members of a dictionary, in order, with duplicates: the last one wins. A member without a
// value is kOther.
using StructuredDictionary = std::vector<std::pair<std::string, StructuredItem>>;

// Parses a field value as a dictionary (section 4.2.2) without inner lists. nullopt unless all of
// it is well-formed, and no longer than kMaxStructuredBytes.
std::optional<StructuredDictionary> ParseStructuredDictionary(std::string_view value);

// Appends `text` as a token if it is one, else as a quoted string. A string holds only 0x20-0x7E;
// other bytes become '?'.
void AppendTokenOrString(std::string_view text, std::string& out);

}  // namespace levee
