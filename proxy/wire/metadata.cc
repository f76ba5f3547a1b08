#include "wire/metadata.h"

#include <cstring>

namespace levee {
namespace {

// Twice what a call with a few dozen metadata fields takes; larger lists are rare enough that a
// pooled owner should not keep their memory.
constexpr size_t kOrdinaryBytes = 4096;
constexpr size_t kOrdinaryFields = 64;

}  // namespace

bool Metadata::Remove(std::string_view name) {
  size_t kept_entries = 0;
  size_t kept_bytes = 0;
  for (const Entry& entry : entries_) {
    if (Matches(entry, name)) continue;
    const size_t size = size_t{entry.name_size} + entry.value_size;
    // Bytes move only toward the front, over what has been looked at already.
    std::memmove(bytes_.data() + kept_bytes, bytes_.data() + entry.offset, size);
    Entry moved = entry;
    moved.offset = static_cast<uint32_t>(kept_bytes);
    entries_[kept_entries++] = moved;
    kept_bytes += size;
  }
  const bool removed = kept_entries != entries_.size();
  entries_.resize(kept_entries);
  bytes_.resize(kept_bytes);
  return removed;
}

void Metadata::Set(std::string_view name, std::string_view value) {
  Remove(name);
  Add(name, value);
}

size_t Metadata::Count(std::string_view name) const {
  size_t count = 0;
  for (const Entry& entry : entries_) count += Matches(entry, name) ? 1 : 0;
  return count;
}

void Metadata::Clear() {
  bytes_.clear();
  entries_.clear();
}

void Metadata::Swap(Metadata& other) noexcept {
  bytes_.swap(other.bytes_);
  entries_.swap(other.entries_);
}

void Metadata::Shrink() {
  if (bytes_.capacity() > kOrdinaryBytes) bytes_.shrink_to_fit();
  if (entries_.capacity() > kOrdinaryFields) entries_.shrink_to_fit();
}

}  // namespace levee
