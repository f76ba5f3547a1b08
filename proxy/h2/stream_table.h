// SPDX-License-Identifier: Apache-2.0
// Finds the streams of a session by their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "h2/stream.h"

namespace levee::h2 {

// A hash table of streams that are linked through their own members. Stream ids of one side go up
// by two, so the lower bits of id / 2 spread the streams evenly that are open at a time. The table
// grows with the streams and does not shrink: it holds 8 to 16 bytes for each stream of the largest
// number that were open at once. It does not own the streams. One thread.
class StreamTable {
 public:
  // Returns the stream with that id, nullptr if none is open.
  Stream* Find(uint32_t id) const {
    if (buckets_.empty()) return nullptr;
    Stream* stream = buckets_[Bucket(id)];
    while (stream != nullptr && stream->id_ != id) stream = stream->next_in_table_;
    return stream;
  }

  // Adds a stream whose id is not in the table.
  void Insert(Stream& stream) {
    if (size_ >= buckets_.size()) Grow();
    Link(stream);
    ++size_;
  }

  // Removes a stream that is in the table.
  void Erase(Stream& stream) {
    Stream** at = &buckets_[Bucket(stream.id_)];
    while (*at != &stream) at = &(*at)->next_in_table_;
    *at = stream.next_in_table_;
    --size_;
  }

  size_t size() const { return size_; }

  // Calls f(Stream&) for each stream, in no particular order. f must not change the table.
  template <typename F>
  void ForEach(F f) const {
    for (Stream* first : buckets_) {
      for (Stream* stream = first; stream != nullptr; stream = stream->next_in_table_) f(*stream);
    }
  }

 private:
  static constexpr size_t kLeast = 16;

  size_t Bucket(uint32_t id) const { return (id >> 1) & (buckets_.size() - 1); }

  void Link(Stream& stream) {
    Stream*& first = buckets_[Bucket(stream.id_)];
    stream.next_in_table_ = first;
    first = &stream;
  }

  void Grow() {
    std::vector<Stream*> old(buckets_.empty() ? kLeast : 2 * buckets_.size());
    old.swap(buckets_);
    for (Stream* stream : old) {
      while (stream != nullptr) {
        Stream* next = stream->next_in_table_;
        Link(*stream);
        stream = next;
      }
    }
  }

  std::vector<Stream*> buckets_;
  size_t size_ = 0;
};

}  // namespace levee::h2
