// SPDX-License-Identifier: Apache-2.0
// How much a connection reads at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace levee::h2 {

// Returns how many bytes the next read may take after one of `bytes` in which so many frames came.
// A full read of tiny frames is 25,000 of them, and the other connections of the loop wait until
// all are handled. So where frames are tiny, a read takes about as many as one of an ordinary
// caller.
inline size_t NextReadLimit(size_t bytes, uint64_t frames) {
  constexpr uint64_t kTinyFrame = 32;  // bytes, with its head
  constexpr uint64_t kManyFrames = 64;
  if (frames < kManyFrames || bytes >= frames * kTinyFrame) return SIZE_MAX;
  return kManyFrames * kTinyFrame;
}

}  // namespace levee::h2
