// SPDX-License-Identifier: Apache-2.0
#include "hpack/table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/block_cache.h"
#include "base/check.h"

namespace levee::hpack {
namespace {

// The capacity of a table when it gets its first entry: enough for an ordinary gRPC connection.
constexpr uint32_t kFirstEntries = 16;
constexpr size_t kFirstBytes = 512;

// The bytes of a token (RFC 9110, section 5.6.2) in lower case.
constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> allowed{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")) {
    allowed[static_cast<uint8_t>(c)] = true;
  }
  return allowed;
}();

constexpr uint64_t kEachByte = 0x0101010101010101;

uint64_t LoadWord(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// NUL, LF and CR, the only bytes that a value must not have, are all less than this.
constexpr uint8_t kControls = 14;

// Whether a byte of the word is less than `bound`, which is at most 128.
bool HasLess(uint64_t word, uint8_t bound) {
  return ((word - kEachByte * bound) & ~word & (kEachByte << 7)) != 0;
}

constexpr char kDelete = 0x7f;

bool IsPseudo(FieldKind kind) {
  return kind >= FieldKind::kMethod && kind <= FieldKind::kUnknownPseudo;
}

bool IsValueByte(char c) { return c != '\0' && c != '\n' && c != '\r'; }

}  // namespace

FieldKind KindOfName(std::string_view name) {
  if (name.starts_with(':')) {
    if (name == ":path") return FieldKind::kPath;
    if (name == ":method") return FieldKind::kMethod;
    if (name == ":scheme") return FieldKind::kScheme;
    if (name == ":status") return FieldKind::kStatus;
    if (name == ":authority") return FieldKind::kAuthority;
    return FieldKind::kUnknownPseudo;
  }
  switch (name.size()) {
    case 2:
      return name == "te" ? FieldKind::kTe : FieldKind::kOther;
    case 14:
      return name == "content-length" ? FieldKind::kContentLength : FieldKind::kOther;
    case 7:
    case 10:
    case 16:
    case 17:
      return name == "upgrade" || name == "connection" || name == "keep-alive" ||
                     name == "proxy-connection" || name == "transfer-encoding"
                 ? FieldKind::kConnectionSpecific
                 : FieldKind::kOther;
    default:
      return FieldKind::kOther;
  }
}

bool IsWellFormedName(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  for (const char c : name) {
    if (!kNameBytes[static_cast<uint8_t>(c)]) return false;
  }
  return !name.empty();
}

bool IsVisible(std::string_view value) {
  while (value.size() >= sizeof(uint64_t)) {
    const uint64_t word = LoadWord(value.data());
    if (HasLess(word, ' ' + 1) || HasLess(word ^ (kEachByte * kDelete), 1)) return false;
    value.remove_prefix(sizeof(uint64_t));
  }
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return static_cast<uint8_t>(c) > ' ' && c != kDelete; });
}

bool IsWellFormedValue(FieldKind kind, std::string_view value) {
  if (IsPseudo(kind)) return IsVisible(value);
  // Control bytes are rare, so the bytes of a word are checked one by one only if it has one.
  while (value.size() >= sizeof(uint64_t)) {
    if (HasLess(LoadWord(value.data()), kControls) &&
        !std::all_of(value.begin(), value.begin() + sizeof(uint64_t), IsValueByte)) {
      return false;
    }
    value.remove_prefix(sizeof(uint64_t));
  }
  return std::all_of(value.begin(), value.end(), IsValueByte);
}

DynamicTable::DynamicTable(size_t max_bytes) : max_bytes_(static_cast<uint16_t>(max_bytes)) {
  LEVEE_CHECK(max_bytes <= kMaxTableBytes);
}

DynamicTable::~DynamicTable() {
  FreeBlock(entries_);
  FreeBlock(bytes_);
}

void DynamicTable::SetMaxBytes(size_t max_bytes) {
  LEVEE_CHECK(max_bytes <= kMaxTableBytes);
  max_bytes_ = static_cast<uint16_t>(max_bytes);
  ++changes_;
  Evict(max_bytes);
}

void DynamicTable::Insert(std::string_view name, std::string_view value, FieldKind kind,
                          FieldForm form) {
  ++changes_;
  const size_t counted = EntryBytes(name.size(), value.size());
  if (counted > max_bytes_) return Evict(0);
  Evict(max_bytes_ - counted);

  const size_t bytes = name.size() + value.size();
  char* const former = FindRoom(bytes) ? nullptr : Rebuild(bytes);
  // The name may be a view of an entry that was evicted just now. The new entry may overwrite it.
  if (!name.empty()) std::memmove(bytes_ + next_offset_, name.data(), name.size());
  if (!value.empty()) {
    std::memcpy(bytes_ + next_offset_ + name.size(), value.data(), value.size());
  }
  FreeBlock(former);
  Push({static_cast<uint16_t>(next_offset_), static_cast<uint16_t>(name.size()),
        static_cast<uint16_t>(value.size()), kind, form});
  next_offset_ += static_cast<uint32_t>(bytes);
  used_bytes_ = static_cast<uint16_t>(used_bytes_ + counted);
}

void DynamicTable::Evict(size_t max_bytes) {
  while (used_bytes_ > max_bytes) {
    const Entry& entry = oldest();
    used_bytes_ =
        static_cast<uint16_t>(used_bytes_ - EntryBytes(entry.name_size, entry.value_size));
    --count_;
  }
}

void DynamicTable::Push(const Entry& entry) {
  if (count_ == entry_capacity_) {
    const uint32_t capacity = std::max(kFirstEntries, entry_capacity_ * 2);
    auto* const larger = static_cast<Entry*>(AllocateBlock(capacity * sizeof(Entry)));
    for (size_t age = 0; age < count_; ++age) {
      larger[(inserted_ - 1 - age) & (capacity - 1)] = (*this)[age];
    }
    FreeBlock(entries_);
    entries_ = larger;
    entry_capacity_ = capacity;
  }
  entries_[inserted_++ & (entry_capacity_ - 1)] = entry;
  ++count_;
}

// Moves `next_offset_` to the place behind the newest entry where an entry of so many bytes fits.
// False: there is no such place.
bool DynamicTable::FindRoom(size_t bytes) {
  if (count_ == 0) {
    next_offset_ = 0;
    return bytes_ != nullptr && bytes <= byte_capacity_;
  }
  const size_t begin = oldest().offset;
  // Here the newest entries are before the oldest one. At least one byte between them must stay
  // free, since equal offsets would look like a ring whose entries are in one piece.
  if (begin > next_offset_) return next_offset_ + bytes < begin;
  if (next_offset_ + bytes <= byte_capacity_) return true;
  if (bytes >= begin) return false;
  next_offset_ = 0;
  return true;
}

// Copies the entries, one after the other, into a new block with room for `bytes` more. The block
// has at least twice the bytes that are needed, so that there is always room until the table holds
// more. Returns the old block.
char* DynamicTable::Rebuild(size_t bytes) {
  const size_t needed = used_bytes_ - size_t{32} * count_ + bytes;
  const size_t capacity = std::max(kFirstBytes, std::bit_ceil(2 * needed));
  auto* const larger = static_cast<char*>(AllocateBlock(capacity));
  uint32_t offset = 0;
  for (size_t age = count_; age-- > 0;) {
    Entry& entry = entries_[(inserted_ - 1 - age) & (entry_capacity_ - 1)];
    const size_t size = size_t{entry.name_size} + entry.value_size;
    std::memcpy(larger + offset, bytes_ + entry.offset, size);
    entry.offset = static_cast<uint16_t>(offset);
    offset += static_cast<uint32_t>(size);
  }
  next_offset_ = offset;
  byte_capacity_ = static_cast<uint32_t>(capacity);
  char* const former = bytes_;
  bytes_ = larger;
  return former;
}

}  // namespace levee::hpack
