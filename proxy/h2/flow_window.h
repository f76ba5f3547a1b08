// SPDX-License-Identifier: Apache-2.0
// Flow-control windows (RFC 9113, section 6.9), of a connection or of one stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

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
  explicit ReceiveWindow(int64_t bytes = kInitialWindowBytes) : bytes_(bytes) {}

  int64_t bytes() const { return bytes_; }

  // The peer sent so many bytes. False: it sent more than it may.
  bool Take(size_t bytes) {
    bytes_ -= static_cast<int64_t>(bytes);
    return bytes_ >= 0;
  }

  // The window changed by `bytes`, because the peer learned that it is not the initial one.
  void Change(int64_t bytes) { bytes_ += bytes; }

  // So many received bytes were processed. Returns the increment of the WINDOW_UPDATE frame to send
  // now, 0 if none is to be sent. One is sent when at least half of `whole`, the
  // size of the window, was processed since the last one.
  uint32_t Credit(size_t bytes, size_t whole) {
    credit_ += bytes;
    if (credit_ == 0 || 2 * credit_ < whole) return 0;
    bytes_ += static_cast<int64_t>(credit_);
    return static_cast<uint32_t>(std::exchange(credit_, 0));
  }

 private:
  int64_t bytes_;
  size_t credit_ = 0;  // not told to the peer yet
};

}  // namespace levee::h2
