// SPDX-License-Identifier: Apache-2.0
#include "wire/structured_field.h"

#include <cstddef>

namespace levee {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlpha(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsIn(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool StartsToken(char c) { return IsAlpha(c) || c == '*'; }
bool ContinuesToken(char c) { return IsAlpha(c) || IsDigit(c) || IsIn(c, "!#$%&'*+-.^_`|~:/"); }
bool StartsKey(char c) { return IsLower(c) || c == '*'; }
bool ContinuesKey(char c) { return StartsKey(c) || IsDigit(c) || IsIn(c, "_-."); }

// Reads from the front of the remaining text. Every function returns false where the text is not
// well-formed.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool Item(StructuredItem& item) {
    SkipSpaces();
    if (!Bare(item.bare) || !Parameters(item)) return false;
    SkipSpaces();
    return rest_.empty();
  }

  bool Dictionary(StructuredDictionary& members) {
    SkipSpaces();
    while (!rest_.empty()) {
      auto& [key, item] = members.emplace_back();
      if (!Key(key)) return false;
      if (Skip('=') && !Bare(item.bare)) return false;
      if (!Parameters(item)) return false;
      SkipSpacesAndTabs();
      if (rest_.empty()) return true;
      if (!Skip(',')) return false;
      SkipSpacesAndTabs();
      if (rest_.empty()) return false;  // behind a comma
    }
    return true;
  }

 private:
  bool Parameters(StructuredItem& item) {
    while (Skip(';')) {
      SkipSpaces();
      auto& [key, value] = item.parameters.emplace_back();
      if (!Key(key)) return false;
      if (Skip('=') && !Bare(value)) return false;
    }
    return true;
  }

  void SkipSpacesAndTabs() {
    while (Skip(' ') || Skip('\t')) {
    }
  }

  bool At(bool (*accepts)(char)) const { return !rest_.empty() && accepts(rest_.front()); }

  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool Skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    Take();
    return true;
  }

  void SkipSpaces() {
    while (Skip(' ')) {
    }
  }

  bool Key(std::string& key) {
    if (!At(StartsKey)) return false;
    while (At(ContinuesKey)) key.push_back(Take());
    return true;
  }

  bool Bare(BareItem& item) {
    if (At(StartsToken)) {
      item.type = BareItem::Type::kToken;
      while (At(ContinuesToken)) item.text.push_back(Take());
      return true;
    }
    if (Skip('"')) return String(item);
    if (Skip(':')) return ByteSequence();
    if (Skip('?')) return Skip('0') || Skip('1');
    return Number(item);
  }

  bool String(BareItem& item) {
    item.type = BareItem::Type::kString;
    while (!rest_.empty()) {
      const char c = Take();
      if (c == '"') return true;
      if (c < 0x20 || c > 0x7e) return false;
      if (c != '\\') {
        item.text.push_back(c);
        continue;
      }
      if (rest_.empty() || !IsIn(rest_.front(), "\"\\")) return false;
      item.text.push_back(Take());
    }
    return false;
  }

  bool ByteSequence() {
    while (!rest_.empty()) {
      const char c = Take();
      if (c == ':') return true;
      if (!IsAlpha(c) && !IsDigit(c) && !IsIn(c, "+/=")) return false;
    }
    return false;
  }

  // At most 15 digits, or 12 before and 3 after the point (section 4.2.4).
  bool Number(BareItem& item) {
    const bool negative = Skip('-');
    int64_t integer = 0;
    size_t digits = 0;
    for (; At(IsDigit) && digits < 16; ++digits) integer = integer * 10 + (Take() - '0');
    if (digits == 0 || digits > 15) return false;
    if (Skip('.')) {
      size_t decimals = 0;
      for (; At(IsDigit); ++decimals) Take();
      return digits <= 12 && decimals >= 1 && decimals <= 3;
    }
    item.type = BareItem::Type::kInteger;
    item.integer = negative ? -integer : integer;
    return true;
  }

  std::string_view rest_;
};

bool IsToken(std::string_view text) {
  if (text.empty() || !StartsToken(text.front())) return false;
  for (char c : text) {
    if (!ContinuesToken(c)) return false;
  }
  return true;
}

}  // namespace

const BareItem* StructuredItem::Parameter(std::string_view name) const {
  const BareItem* found = nullptr;
  for (const auto& [key, value] : parameters) {
    if (key == name) found = &value;
  }
  return found;
}

std::optional<StructuredItem> ParseStructuredItem(std::string_view value) {
  StructuredItem item;
  if (value.size() > kMaxStructuredBytes || !Parser(value).Item(item)) return std::nullopt;
  return item;
}

std::optional<StructuredDictionary> ParseStructuredDictionary(std::string_view value) {
  StructuredDictionary members;
  if (value.size() > kMaxStructuredBytes || !Parser(value).Dictionary(members)) {
    return std::nullopt;
  }
  return members;
}

void AppendTokenOrString(std::string_view text, std::string& out) {
  if (IsToken(text)) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c < 0x20 || c > 0x7e ? '?' : c);
  }
  out.push_back('"');
}

}  // namespace levee
