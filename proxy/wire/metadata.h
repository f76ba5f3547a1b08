// SPDX-License-Identifier: Apache-2.0
// The fields of one header block, in order, in one allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/block_cache.h"

namespace levee {

// An ordered list of header fields (pseudo-headers first, as they came). Names are lower-case as
// HTTP/2 demands, values are opaque bytes. Keeps its capacity on Clear() and when moved between
// owners by swap, so that pooled owners allocate only for unusually large blocks.
// Views handed out stay valid until the next change of the list. One thread per object.
class Metadata {
 public:
  Metadata() = default;
  ~Metadata() { FreeBlock(bytes_); }
  Metadata(const Metadata&) = delete;
  Metadata& operator=(const Metadata&) = delete;

  struct Field {
    std::string_view name;
    std::string_view value;  // lies directly behind the name
    // HPACK "never indexed" (RFC 7541, section 6.2.3) as the peer sent it; must be kept.
    bool never_index = false;
  };

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Field operator[](size_t i) const {
    const Entry& entry = entries_[i];
    return {Name(entry), Value(entry), entry.never_index != 0};
  }

  // Sum over the fields of name + value + 32 bytes: the size that RFC 9113, section 6.5.2 counts.
  size_t ListBytes() const { return size_ + 32 * entries_.size(); }

  // `name` is not empty. Neither `name` nor `value` may be a view of this list; likewise for Set
  // and Remove.
  void Add(std::string_view name, std::string_view value, bool never_index = false) {
    const size_t bytes = name.size() + value.size();
    if (bytes > capacity_ - size_) Grow(bytes);
    entries_.push_back({size_, static_cast<uint32_t>(name.size()),
                        static_cast<uint32_t>(value.size()), never_index});
    std::memcpy(bytes_ + size_, name.data(), name.size());
    if (!value.empty()) std::memcpy(bytes_ + size_ + name.size(), value.data(), value.size());
    size_ += static_cast<uint32_t>(bytes);
  }

  // Adds the fields [begin, end) of another list, with what they say of indexing.
  void AddFrom(const Metadata& other, size_t begin, size_t end);

  // Becomes a copy of the first `count` fields of another list, with room for no more. The list is
  // new.
  void CopyTightly(const Metadata& other, size_t count);

  // Returns whether the first fields are those of `other`, in the same order.
  bool BeginsWith(const Metadata& other) const {
    const size_t count = other.entries_.size();
    if (count == 0) return true;  // Its pointers may be null.
    return count <= entries_.size() && other.size_ <= size_ &&
           std::memcmp(entries_.data(), other.entries_.data(), count * sizeof(Entry)) == 0 &&
           std::memcmp(bytes_, other.bytes_, other.size_) == 0;
  }

  // Removes every field of that name. Returns whether there was one.
  bool Remove(std::string_view name);

  // Replaces all fields of that name by one at the end of the list.
  void Set(std::string_view name, std::string_view value);

  // Returns the first value of that name; a view with `.data() == nullptr` if there is none.
  std::string_view Get(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (Matches(entry, name)) return Value(entry);
    }
    return {};
  }
  bool Has(std::string_view name) const { return Get(name).data() != nullptr; }

  // Returns how many fields have that name.
  size_t Count(std::string_view name) const;

  void Clear();
  void Swap(Metadata& other) noexcept;

  // Returns how much memory the fields take.
  size_t held_bytes() const { return capacity_ + entries_.capacity() * sizeof(Entry); }

  // Gives memory back if the list has grown beyond the needs of ordinary calls. Meant to follow
  // Clear(): fields that are in the list stay, and so does their memory.
  void Shrink();

 private:
  struct Entry {
    uint32_t offset;
    uint32_t name_size;
    uint32_t value_size;
    uint32_t never_index;  // 0 or 1; a bool would leave bytes that cannot be compared
  };

  std::string_view Name(const Entry& entry) const {
    return {bytes_ + entry.offset, entry.name_size};
  }
  std::string_view Value(const Entry& entry) const {
    return {bytes_ + entry.offset + entry.name_size, entry.value_size};
  }
  // Lengths differ for nearly every pair of names, so bytes are seldom compared.
  bool Matches(const Entry& entry, std::string_view name) const {
    return entry.name_size == name.size() && Name(entry) == name;
  }

  // Makes room for `bytes` more; at first for an ordinary block.
  void Grow(size_t bytes);
  static uint32_t End(const Entry& entry) {
    return entry.offset + entry.name_size + entry.value_size;
  }

  // Name, value, name, value, ... in the order of entries_, without gaps. Not a std::string, which
  // is not filled as cheaply piece by piece.
  char* bytes_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::vector<Entry, BlockAllocator<Entry>> entries_;
};

}  // namespace levee
