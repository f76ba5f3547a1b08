// SPDX-License-Identifier: Apache-2.0
// HPACK's tables (RFC 7541, section 2.3), and the rules for well-formed names and values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace levee::hpack {

// The meaning of a field's name in the rules for messages (RFC 9113, section 8). It is determined
// once for an entry of a table, not each time the entry is used.
enum class FieldKind : uint8_t {
  kOther,
  kMethod,
  kScheme,
  kAuthority,
  kPath,
  kStatus,
  kUnknownPseudo,  // any other name that begins with ':'
  kContentLength,
  kTe,
  kConnectionSpecific  // connection, keep-alive, proxy-connection, transfer-encoding, upgrade
};

FieldKind KindOfName(std::string_view name);

// Whether the name is a token of RFC 9110 in lower case; a ':' may stand before it. RFC 9113,
// section 8.2.1, allows more bytes in names, but no field of HTTP or gRPC has them.
bool IsWellFormedName(std::string_view name);

// Whether the value of a field of that kind has no NUL, CR and LF (RFC 9110, section 5.5), and that
// of a pseudo-header no other control and no space either, of which neither a target nor an
// authority can consist (RFC 9113, section 8.3.1). Unlike RFC 9113, section 8.2.1, this allows
// spaces around the values of other fields.
bool IsWellFormedValue(FieldKind kind, std::string_view value);

// Whether the value has no control and no space.
bool IsVisible(std::string_view value);

// This says whether a field is well-formed. It is determined once for an entry of a table, so that
// a reference to an entry costs the same whatever it holds.
enum class FieldForm : uint8_t { kGood, kBadValue, kBadName };

struct StaticField {
  std::string_view name;
  std::string_view value;
  FieldKind kind = FieldKind::kOther;
};

// RFC 7541, appendix A. Index i of the RFC is [i - 1].
inline constexpr size_t kStaticFields = 61;
extern const std::array<StaticField, kStaticFields> kStaticTable;

// The index of the entry with that name and value, and that of the first entry with that name; 0
// for none.
struct StaticMatch {
  uint8_t field = 0;
  uint8_t name = 0;
};
StaticMatch FindStatic(std::string_view name, std::string_view value);

// The largest dynamic table that Levee keeps, in either direction: HTTP/2's default. It counts
// name, value and 32 bytes for each entry.
inline constexpr size_t kMaxTableBytes = 4096;

// A dynamic table (RFC 7541, section 2.3.2). One thread. It holds no memory before the first
// insertion. Then it grows with its entries up to 9 KiB, and allocates nothing after that.
class DynamicTable {
 public:
  struct Entry {
    uint16_t offset;  // of the name in the bytes; the value follows it
    uint16_t name_size;
    uint16_t value_size;
    FieldKind kind;
    FieldForm form;
  };

  // `max_bytes` is at most kMaxTableBytes, here and in SetMaxBytes.
  explicit DynamicTable(size_t max_bytes);
  ~DynamicTable();
  DynamicTable(const DynamicTable&) = delete;
  DynamicTable& operator=(const DynamicTable&) = delete;

  size_t max_bytes() const { return max_bytes_; }

  // Evicts the entries that do not fit any more.
  void SetMaxBytes(size_t max_bytes);

  size_t count() const { return count_; }

  // The number of insertions so far, modulo 2^32.
  uint32_t inserted() const { return inserted_; }

  // Goes up by 1, modulo 2^32, with each change of the entries. As long as it stays the same, an
  // index means the same field.
  uint32_t changes() const { return changes_; }

  // Returns an entry. `age` must be below count(); 0 is the newest entry. The entry and views of
  // its name and value are valid until the next insertion.
  const Entry& operator[](size_t age) const {
    return entries_[(inserted_ - 1 - static_cast<uint32_t>(age)) & (entry_capacity_ - 1)];
  }
  std::string_view Name(const Entry& entry) const {
    return {bytes_ + entry.offset, entry.name_size};
  }
  std::string_view Value(const Entry& entry) const {
    return {bytes_ + entry.offset + entry.name_size, entry.value_size};
  }

  // Inserts an entry, after it has evicted the oldest ones until there is room. A field that is
  // larger than the table only empties it (section 4.4). `name` may be a view of this table, even
  // of an entry that the insertion evicts; `value` must not be one.
  void Insert(std::string_view name, std::string_view value, FieldKind kind, FieldForm form);

  static constexpr size_t EntryBytes(size_t name_size, size_t value_size) {
    return name_size + value_size + 32;
  }

 private:
  const Entry& oldest() const { return (*this)[count_ - 1u]; }
  void Evict(size_t max_bytes);
  void Push(const Entry& entry);
  bool FindRoom(size_t bytes);
  char* Rebuild(size_t bytes);

  Entry* entries_ = nullptr;     // a ring
  char* bytes_ = nullptr;        // a ring; each entry is in one piece
  uint32_t entry_capacity_ = 0;  // a power of two
  uint32_t byte_capacity_ = 0;
  uint32_t next_offset_ = 0;  // in `bytes_`, behind the newest entry
  uint32_t inserted_ = 0;
  uint32_t changes_ = 0;
  uint16_t count_ = 0;
  uint16_t max_bytes_;
  uint16_t used_bytes_ = 0;  // as section 4.1 counts
};

}  // namespace levee::hpack
