// SPDX-License-Identifier: Apache-2.0
#include "wire/metadata.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace levee {
namespace {

// Twice the memory of a call with a few dozen metadata fields. Larger lists are so rare that a
// pooled owner should not keep their memory.
constexpr size_t kOrdinaryBytes = 4096;
constexpr size_t kOrdinaryFields = 64;

// Room that a list makes for its first field.
constexpr size_t kFirstBytes = 512;
constexpr size_t kFirstFields = 16;

}  // namespace

void Metadata::Grow(size_t bytes) {
  const size_t wanted = std::max({kFirstBytes, size_t{capacity_} * 2, size_ + bytes});
  LEVEE_CHECK(wanted <= UINT32_MAX);
  bytes_ = static_cast<char*>(ResizeBlock(bytes_, wanted));
  capacity_ = static_cast<uint32_t>(wanted);
  entries_.reserve(kFirstFields);
}

void Metadata::AddFrom(const Metadata& other, size_t begin, size_t end) {
  if (begin == end) return;
  const Entry* const first = other.entries_.data() + begin;
  const uint32_t bytes = End(other.entries_[end - 1]) - first->offset;
  if (bytes > capacity_ - size_) Grow(bytes);
  std::memcpy(bytes_ + size_, other.bytes_ + first->offset, bytes);
  const size_t at = entries_.size();
  entries_.insert(entries_.end(), first, first + (end - begin));
  // Unsigned arithmetic also moves fields toward the front.
  const uint32_t moved = size_ - first->offset;
  if (moved != 0) {
    for (size_t i = at; i < entries_.size(); ++i) entries_[i].offset += moved;
  }
  size_ += bytes;
}

void Metadata::CopyTightly(const Metadata& other, size_t count) {
  if (count == 0) return;
  capacity_ = End(other.entries_[count - 1]);
  bytes_ = static_cast<char*>(ResizeBlock(bytes_, capacity_));
  entries_.reserve(count);
  AddFrom(other, 0, count);
}

bool Metadata::Remove(std::string_view name) {
  size_t kept_entries = 0;
  while (kept_entries < entries_.size() && !Matches(entries_[kept_entries], name)) ++kept_entries;
  if (kept_entries == entries_.size()) return false;
  size_t kept_bytes = entries_[kept_entries].offset;
  for (size_t i = kept_entries; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (Matches(entry, name)) continue;
    const size_t size = size_t{entry.name_size} + entry.value_size;
    // Bytes move only toward the front, over fields that the loop has passed.
    std::memmove(bytes_ + kept_bytes, bytes_ + entry.offset, size);
    Entry moved = entry;
    moved.offset = static_cast<uint32_t>(kept_bytes);
    entries_[kept_entries++] = moved;
    kept_bytes += size;
  }
  entries_.resize(kept_entries);
  size_ = static_cast<uint32_t>(kept_bytes);
  return true;
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
  size_ = 0;
  entries_.clear();
}

void Metadata::Swap(Metadata& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  entries_.swap(other.entries_);
}

void Metadata::Shrink() {
  if (capacity_ > kOrdinaryBytes && size_ == 0) {
    FreeBlock(std::exchange(bytes_, nullptr));
    capacity_ = 0;
  }
  if (entries_.capacity() > kOrdinaryFields) entries_.shrink_to_fit();
}

}  // namespace levee
