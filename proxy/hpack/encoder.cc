// SPDX-License-Identifier: Apache-2.0
#include "hpack/encoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/block_cache.h"

namespace levee::hpack {
namespace {

// The bits that say how a field is represented (section 6), and how many of the first byte are left
// for the index.
struct Representation {
  uint8_t bits;
  int prefix_bits;
};
constexpr Representation kIndexed{0x80, 7};
constexpr Representation kIncremental{0x40, 6};
constexpr Representation kSizeUpdate{0x20, 5};
constexpr Representation kNeverIndexed{0x10, 4};
constexpr Representation kWithoutIndexing{0x00, 4};
constexpr Representation kPlainString{0x00, 7};

// The most bytes that an integer of 32 bits takes (section 5.1).
constexpr size_t kIntegerBytes = 6;

template <typename Word>
uint64_t Load(const char* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  hash = (hash ^ word) * kOdd;
  return hash ^ (hash >> 32);
}

// Returns the hash of `text`, which it reads in words; the last word overlaps the one before it. A
// peer that makes collisions gains nothing by them, see Encoder::Memory.
uint64_t Hash(std::string_view text, uint64_t hash) {
  const char* bytes = text.data();
  size_t size = text.size();
  hash += size;
  if (size >= 8) {
    for (; size > 8; bytes += 8, size -= 8) hash = Mix(hash, Load<uint64_t>(bytes));
    return Mix(hash, Load<uint64_t>(bytes + size - 8));
  }
  if (size >= 4) {
    return Mix(hash, Load<uint32_t>(bytes) | Load<uint32_t>(bytes + size - 4) << 32);
  }
  if (size == 0) return Mix(hash, 0);
  return Mix(hash, Load<uint8_t>(bytes) | Load<uint8_t>(bytes + size / 2) << 8 |
                       Load<uint8_t>(bytes + size - 1) << 16);
}

inline uint8_t* WriteInteger(Representation as, size_t value, uint8_t* out) {
  const size_t prefix = (size_t{1} << as.prefix_bits) - 1;
  if (value < prefix) {
    *out++ = static_cast<uint8_t>(as.bits | value);
    return out;
  }
  *out++ = static_cast<uint8_t>(as.bits | prefix);
  for (value -= prefix; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

uint8_t* WriteString(std::string_view text, uint8_t* out) {
  out = WriteInteger(kPlainString, text.size(), out);
  if (!text.empty()) std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// `name_index` is 0 if the name is in no table.
uint8_t* WriteLiteral(Representation as, size_t name_index, const Metadata::Field& field,
                      uint8_t* out) {
  out = WriteInteger(as, name_index, out);
  if (name_index == 0) out = WriteString(field.name, out);
  return WriteString(field.value, out);
}

// Returns whether a field authenticates a caller. The fields that do are known by the index of
// their name in the static table.
bool Authenticates(size_t name_index) {
  constexpr size_t kAuthorization = 23;
  constexpr size_t kCookie = 32;
  constexpr size_t kProxyAuthorization = 49;
  constexpr size_t kSetCookie = 55;
  return name_index == kAuthorization || name_index == kCookie ||
         name_index == kProxyAuthorization || name_index == kSetCookie;
}

}  // namespace

// Every member has a fixed size, and a new guess replaces an older one.
struct Encoder::Memory : InBlocks {
  // For each entry's place: the place of the entry that followed it the last time. kNowhere stands
  // for the beginning of a block. Most requests and responses are like the one before, so this
  // finds most entries; the others are found by their hashes.
  static constexpr size_t kEntries = kMaxTableBytes / 32;  // of a table at most
  static_assert(kStaticFields < kEntries);
  std::array<Place, 2 * kEntries> followers{};

  Place& Follower(Place place) {
    return followers[place % kEntries + ((place & kDynamic) != 0 ? kEntries : 0)];
  }

  // Finds the place of a field by the hash of the field, or that of a name in the dynamic table by
  // the hash of the name.
  struct Found {
    uint16_t tag = 0;  // of the hash
    Place place = kNowhere;
  };
  static constexpr size_t kSets = 32;
  static constexpr size_t kWays = 8;
  using Set = std::array<Found, kWays>;
  std::array<Set, kSets> sets{};

  // A ring of the hashes of the fields and names that were last sent as literals. A table with a
  // place for each hash would not do: if two fields of every call had the same place, they would
  // keep each other out of the dynamic table for ever.
  static constexpr size_t kSeen = 64;
  std::array<uint32_t, kSeen> seen{};
  uint32_t next_seen = 0;

  static uint16_t TagOf(uint64_t hash) { return static_cast<uint16_t>(hash >> 48); }
  Set& SetOf(uint64_t hash) { return sets[hash % kSets]; }

  // Returns whether `hash` was sent lately, and remembers that it is sent now.
  bool Seen(uint64_t hash) {
    const auto wanted = static_cast<uint32_t>(hash >> 32);
    uint32_t found = 0;  // Not a bool, so that the compiler can use vector instructions.
    for (const uint32_t one : seen) found |= one == wanted ? 1u : 0u;
    if (found == 0) seen[next_seen++ % kSeen] = wanted;
    return found != 0;
  }
};

Encoder::Encoder() : table_(kMaxTableBytes) {}

Encoder::~Encoder() = default;

void Encoder::SetMaxTableBytes(size_t bytes) {
  last_bytes_ = std::min(bytes, kMaxTableBytes);
  least_bytes_ = std::min(least_bytes_, last_bytes_);
}

size_t Encoder::Bound(const Metadata& fields) {
  // ListBytes counts 32 bytes for each field beside its strings. Here each field takes at most
  // three integers beside them.
  return fields.ListBytes() - fields.size() * (32 - 3 * kIntegerBytes) + 2 * kIntegerBytes;
}

uint8_t* Encoder::WriteSizes(uint8_t* out) {
  if (least_bytes_ < std::min(last_bytes_, table_.max_bytes())) {
    out = WriteInteger(kSizeUpdate, least_bytes_, out);
    table_.SetMaxBytes(least_bytes_);
  }
  if (last_bytes_ != table_.max_bytes()) {
    out = WriteInteger(kSizeUpdate, last_bytes_, out);
    table_.SetMaxBytes(last_bytes_);
  }
  least_bytes_ = last_bytes_;
  return out;
}

// Returns whether a field that is in neither table enters the dynamic one. `name_index` 0: its name
// is in neither table, too.
bool Encoder::Enters(const Metadata::Field& field, size_t name_index, uint64_t name_hash,
                     uint64_t hash) {
  const size_t bytes = DynamicTable::EntryBytes(field.name.size(), field.value.size());
  if (bytes > std::min(kLongestEntry, table_.max_bytes() / 4 * 3)) return false;
  if (Authenticates(name_index)) return false;
  if (memory_->Seen(hash)) return true;
  return name_index == 0 && memory_->Seen(name_hash);
}

// Returns the age of an entry in the dynamic table; at least the table's count() if the entry is
// not there.
inline size_t Encoder::AgeOf(Place place) const {
  // An evicted entry has a greater age than the others. After 2^15 insertions its place stands for
  // a newer entry.
  return (table_.inserted() - 1 - place) & (kDynamic - 1);
}

// Returns the index of the entry at `place` (section 2.3.3) if the entry is that field; else 0.
inline size_t Encoder::IndexAt(Place place, const Metadata::Field& field) const {
  if ((place & kDynamic) != 0) {
    const size_t age = AgeOf(place);
    if (age >= table_.count()) return 0;
    const DynamicTable::Entry& entry = table_[age];
    if (entry.name_size != field.name.size() || entry.value_size != field.value.size()) return 0;
    // In the table and in Metadata, the bytes of a value follow those of its name.
    const size_t size = field.name.size() + field.value.size();
    const bool same = std::memcmp(table_.Name(entry).data(), field.name.data(), size) == 0;
    return same ? kStaticFields + 1 + age : 0;
  }
  if (place == kNowhere) return 0;
  const StaticField& entry = kStaticTable[place - 1u];
  return entry.name == field.name && entry.value == field.value ? place : 0;
}

// Returns the index of an entry of the dynamic table with that name; 0 if none is known.
size_t Encoder::FindName(uint64_t hash, std::string_view name) const {
  const uint16_t tag = Memory::TagOf(hash);
  for (const Memory::Found& found : memory_->SetOf(hash)) {
    if (found.tag != tag || (found.place & kDynamic) == 0) continue;
    const size_t age = AgeOf(found.place);
    if (age < table_.count() && table_.Name(table_[age]) == name) return kStaticFields + 1 + age;
  }
  return 0;
}

Encoder::Place Encoder::FindField(uint64_t hash, const Metadata::Field& field) const {
  const uint16_t tag = Memory::TagOf(hash);
  for (const Memory::Found& found : memory_->SetOf(hash)) {
    if (found.tag == tag && IndexAt(found.place, field) != 0) return found.place;
  }
  return kNowhere;
}

size_t Encoder::Encode(const Metadata& fields, uint8_t* out) {
  if (memory_ == nullptr) memory_ = std::make_unique<Memory>();
  uint8_t* end = WriteSizes(out);
  Place last = kNowhere;
  size_t next = 0;
  if (const auto* known = written_.Find(fields, table_.changes())) {
    end = std::copy(known->bytes.begin(), known->bytes.end(), end);
    last = known->last;
    next = known->fields.size();
  } else if (written_.Wants()) {
    end = WriteBeginning(fields, next, last, end);
  }
  for (const size_t count = fields.size(); next < count; ++next) {
    end = WriteField(fields[next], last, end);
  }
  return static_cast<size_t>(end - out);
}

inline uint8_t* Encoder::WriteField(const Metadata::Field& field, Place& last, uint8_t* out) {
  const Place expected = memory_->Follower(last);
  const size_t index = field.never_index ? 0 : IndexAt(expected, field);
  if (index == 0) return WriteUnexpected(field, last, out);
  last = expected;
  return WriteInteger(kIndexed, index, out);
}

// Writes fields up to and with the first one that is not a reference, and remembers those before
// it. `next`: the field to be written next.
uint8_t* Encoder::WriteBeginning(const Metadata& fields, size_t& next, Place& last, uint8_t* out) {
  uint8_t* const begin = out;
  const uint32_t table = table_.changes();
  while (next < fields.size()) {
    const Place before = last;
    uint8_t* const field = out;
    out = WriteField(fields[next++], last, out);
    if ((*field & kIndexed.bits) != 0) continue;
    if (table_.changes() == table) {
      written_.Remember(fields, next - 1, begin, static_cast<size_t>(field - begin), before);
    }
    return out;
  }
  written_.Remember(fields, next, begin, static_cast<size_t>(out - begin), last);
  return out;
}

// Remembers the place of the field or name with that hash. This replaces the guess with the same
// tag, which mostly is of an older entry with the same name. If there is none, it replaces the
// oldest guess; guesses of the static table count as the oldest, since they are easily made again.
void Encoder::Remember(uint64_t hash, Place place) {
  const auto age = [&](const Memory::Found& found) {
    return (found.place & kDynamic) != 0 ? AgeOf(found.place) : size_t{kDynamic};
  };
  const uint16_t tag = Memory::TagOf(hash);
  Memory::Found* victim = nullptr;
  for (Memory::Found& found : memory_->SetOf(hash)) {
    if (victim == nullptr || age(found) > age(*victim)) victim = &found;
    if (found.tag == tag) {
      victim = &found;
      break;
    }
  }
  *victim = {tag, place};
}

// Writes a field that did not follow the one at `last` the last time. If it is in a table, or
// enters one now, `last` becomes its place.
uint8_t* Encoder::WriteUnexpected(const Metadata::Field& field, Place& last, uint8_t* out) {
  const uint64_t name_hash = Hash(field.name, 0);
  const uint64_t hash = Hash(field.value, name_hash);
  Place place = field.never_index ? kNowhere : FindField(hash, field);
  if (place == kNowhere) {
    const StaticMatch match = FindStatic(field.name, field.value);
    const size_t name_index = match.name != 0 ? match.name : FindName(name_hash, field.name);
    if (field.never_index) return WriteLiteral(kNeverIndexed, name_index, field, out);
    if (match.field == 0) {
      if (!Enters(field, name_index, name_hash, hash)) {
        return WriteLiteral(kWithoutIndexing, name_index, field, out);
      }
      out = WriteLiteral(kIncremental, name_index, field, out);
      place = static_cast<Place>(kDynamic | table_.inserted());
      if (match.name == 0) Remember(name_hash, place);
      table_.Insert(field.name, field.value, FieldKind::kOther, FieldForm::kGood);
    } else {
      place = match.field;
      out = WriteInteger(kIndexed, place, out);
    }
    Remember(hash, place);
  } else {
    out = WriteInteger(kIndexed, IndexAt(place, field), out);
  }
  memory_->Follower(last) = place;
  last = place;
  return out;
}

}  // namespace levee::hpack
