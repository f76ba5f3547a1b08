// HPACK's tables (RFC 7541, section 2.3) and what is known of a field's name and value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace levee::hpack {

// What a field's name means to the rules for messages (RFC 9113, section 8). Found once for an
// entry of a table, not once for each use.
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

// A token of RFC 9110 in lower case, after a ':' perhaps. RFC 9113, section 8.2.1 demands less of
// names; what it allows beyond no field of HTTP or gRPC has.
bool IsWellFormedName(std::string_view name);

// Without NUL, CR and LF: what RFC 9113, section 8.2.1 demands, but for spaces around the value.
bool IsWellFormedValue(std::string_view value);

struct StaticField {
  std::string_view name;
  std::string_view value;
  FieldKind kind = FieldKind::kOther;
};

// RFC 7541, appendix A. Index i of the RFC is [i - 1].
inline constexpr size_t kStaticFields = 61;
extern const std::array<StaticField, kStaticFields> kStaticTable;

// The index of the entry with that name and value, and of the first with that name; 0 if there is
// none.
struct StaticMatch {
  uint8_t field = 0;
  uint8_t name = 0;
};
StaticMatch FindStatic(std::string_view name, std::string_view value);

// The largest dynamic table that Levee keeps, in either direction: HTTP/2's default. It counts
// name, value and 32 bytes for each entry.
inline constexpr size_t kMaxTableBytes = 4096;

// A dynamic table (RFC 7541, section 2.3.2). One thread. Holds no memory before the first insertion
// and then grows with what is in it, to 9 KiB; nothing is allocated once it has its size.
class DynamicTable {
 public:
  struct Entry {
    uint16_t offset;  // of the name in the bytes; the value follows it
    uint16_t name_size;
    uint16_t value_size;
    FieldKind kind;
    bool well_formed;
  };

  // `max_bytes` is at most kMaxTableBytes, here and in SetMaxBytes.
  explicit DynamicTable(size_t max_bytes);
  ~DynamicTable();
  DynamicTable(const DynamicTable&) = delete;
  DynamicTable& operator=(const DynamicTable&) = delete;

  size_t max_bytes() const { return max_bytes_; }

  // Evicts what does not fit any more.
  void SetMaxBytes(size_t max_bytes);

  size_t count() const { return count_; }

  // Insertions so far, modulo 2^32.
  uint32_t inserted() const { return inserted_; }

  // `age` < count(); 0 is the newest entry. Valid until the next insertion, as are the views.
  const Entry& operator[](size_t age) const {
    return entries_[(inserted_ - 1 - static_cast<uint32_t>(age)) & (entry_capacity_ - 1)];
  }
  std::string_view Name(const Entry& entry) const {
    return {bytes_ + entry.offset, entry.name_size};
  }
  std::string_view Value(const Entry& entry) const {
    return {bytes_ + entry.offset + entry.name_size, entry.value_size};
  }

  // Evicts the oldest entries until there is room. What is larger than the table only empties it
  // (section 4.4). `name` may be that of an entry of this table, which the insertion may evict;
  // `value` must not be of this table.
  void Insert(std::string_view name, std::string_view value, FieldKind kind, bool well_formed);

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
  char* bytes_ = nullptr;        // a ring in which no entry is broken in two
  uint32_t entry_capacity_ = 0;  // a power of two
  uint32_t byte_capacity_ = 0;
  uint32_t next_offset_ = 0;  // in `bytes_`, behind the newest entry
  uint32_t inserted_ = 0;
  uint16_t count_ = 0;
  uint16_t max_bytes_;
  uint16_t used_bytes_ = 0;  // as section 4.1 counts
};

}  // namespace levee::hpack
