// SPDX-License-Identifier: Apache-2.0
// The memory into which a session writes the bytes that it sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/chunk.h"
#include "h2/frame.h"

namespace levee::h2 {

// Holds bytes in order: frames that were written into its memory, and between them large pieces of
// bodies, which are not copied. Reusable after Clear. One thread.
class OutputBuffer {
 public:
  // The size of the largest frame, which must fit.
  static constexpr size_t kMinimum = kFrameHeadBytes + kMaxFrameBytes;

  // `capacity`: room for all bytes together; at least kMinimum.
  explicit OutputBuffer(size_t capacity)
      : capacity_(capacity), memory_(std::make_unique_for_overwrite<uint8_t[]>(capacity)) {}

  size_t size() const { return size_; }
  size_t room() const { return capacity_ - size_; }

  // The caller writes up to room() bytes to end(), and then calls Advance with their number.
  uint8_t* end() { return memory_.get() + written_; }
  void Advance(size_t bytes) {
    written_ += bytes;
    size_ += bytes;
  }

  // Appends the first `bytes` of `body`. Few bytes are copied, since a further piece costs the
  // kernel about as much time as the copy.
  void Append(const Chunk& body, size_t bytes);

  // All bytes in order. Valid until the buffer is changed.
  std::span<const ByteSpan> pieces() {
    EndRun();
    return pieces_;
  }

  // Returns all bytes except the first `bytes`. Bodies are shared, the other bytes are copied, so
  // the result stays valid when this buffer changes.
  std::vector<Chunk> Rest(size_t bytes);

  void Clear();

 private:
  void EndRun();

  const size_t capacity_;
  const std::unique_ptr<uint8_t[]> memory_;  // not touched before it is used
  size_t written_ = 0;                       // of memory_
  size_t run_begin_ = 0;  // in memory_: the bytes from here on are not in pieces_ yet
  size_t size_ = 0;
  std::vector<ByteSpan> pieces_;
  std::vector<Chunk> bodies_;  // of each piece; empty for those in memory_
};

}  // namespace levee::h2
