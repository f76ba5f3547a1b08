// SPDX-License-Identifier: Apache-2.0
// Flow-control windows (RFC 9113, section 6.9), of a connection or of one stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "h2/frame.h"

namespace levee::h2 {

// How many bytes of DATA this side may send. One thread.
class SendWindow {
 public:
  explicit SendWindow(int64_t bytes = kInitialWindowBytes) : bytes_(bytes) {}

  // Can be negative, after the peer has made its INITIAL_WINDOW_SIZE smaller.
  int64_t bytes() const { return bytes_; }

  // The peer allows `bytes` more, or less if negative. False: the window is now larger than an
  // HTTP/2 window may be, which is the peer's fault.
  bool Grow(int64_t bytes) {
    bytes_ += bytes;
    return bytes_ <= kMaxWindowBytes;
  }

  // So many bytes were sent.
  void Take(size_t bytes) { bytes_ -= static_cast<int64_t>(bytes); }

 private:
  int64_t bytes_;
};

// How many bytes of DATA the peer may send. The bytes that this side has processed are added up
// until there are enough of them for a WINDOW_UPDATE frame. One thread.
class ReceiveWindow {
 public:
  explicit ReceiveWindow(int64_t bytes = kInitialWindowBytes) : bytes_(bytes), whole_(bytes) {}

  int64_t bytes() const { return bytes_; }

  // The peer sent so many bytes. False: it sent more than it may.
  bool Take(size_t bytes) {
    bytes_ -= static_cast<int64_t>(bytes);
    return bytes_ >= 0;
  }

  // Whether the peer has used more than half of it.
  bool half_used() const { return 2 * bytes_ < whole_; }

  // Received bytes that were not processed yet.
  int64_t waiting() const { return whole_ - bytes_ - credit_; }

  // The window changed by `bytes`, because the peer learned that it is not the initial one.
  void Change(int64_t bytes) {
    bytes_ += bytes;
    whole_ += bytes;
  }

  // So many received bytes were processed. Returns whether it is time for an Update: half of the
  // window that the peer knows was processed.
  bool Credit(size_t bytes) {
    credit_ += static_cast<int64_t>(bytes);
    LEVEE_DCHECK(waiting() >= 0);  // No byte is processed twice.
    return 2 * credit_ >= whole_;
  }

  // The window should have the size `whole` from now on. Returns the increment of the WINDOW_UPDATE
  // frame to send now, 0 if that would be less than half of `whole`.
  uint32_t Update(int64_t whole) {
    const int64_t update = credit_ + whole - whole_;
    if (update <= 0 || 2 * update < whole) return 0;
    bytes_ += update;
    whole_ = whole;
    credit_ = 0;
    return static_cast<uint32_t>(update);
  }

 private:
  int64_t bytes_;
  int64_t whole_;       // bytes_, credit_, and what waits to be processed
  int64_t credit_ = 0;  // processed, and not told to the peer yet
};

}  // namespace levee::h2
