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

// How many bytes of DATA the peer may send. Bytes that were dealt with are gathered until they are
// worth a WINDOW_UPDATE frame. One thread.
class ReceiveWindow {
 public:
  explicit ReceiveWindow(int64_t bytes = kInitialWindowBytes) : bytes_(bytes) {}

  int64_t bytes() const { return bytes_; }

  // The peer sent so many bytes. False: those were more than it may send.
  bool Take(size_t bytes) {
    bytes_ -= static_cast<int64_t>(bytes);
    return bytes_ >= 0;
  }

  // The peer has learned of another window than it began with.
  void Change(int64_t bytes) { bytes_ += bytes; }

  // So many received bytes were dealt with. Returns what to tell the peer by WINDOW_UPDATE now, 0
  // for nothing: it is told when half of `whole`, the size of the window, has come together.
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
