// SPDX-License-Identifier: Apache-2.0
// When the receive windows of a connection's streams should grow: if the peer waits for a window
// during each round trip, and no bytes wait here. The round trip is measured with a PING, as gRPC
// does for its estimate of the product of bandwidth and delay
// (grpc.io/blog/grpc-go-perf-improvements).
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee::h2 {

// One for each connection. It has no I/O: the session sends its probes and tells it what they show.
// A stream gets the larger window only as it uses up the one that it has, so streams that stand
// still hold no more than before. One thread.
class WindowGrowth {
 public:
  // The largest window. Half of it, 8 MiB, may be on its way in each round trip.
  static constexpr uint32_t kMostBytes = 16 * 1024 * 1024;
  // A window that carries so much is not the bound of a stream.
  static constexpr int64_t kBytesPerMicrosecond = 1000;
  // The time from a probe that changed nothing to the next one.
  static constexpr absl::Duration kPause = absl::Milliseconds(100);

  // `bytes`: the window with which streams begin.
  explicit WindowGrowth(uint32_t bytes) : window_(bytes) {}

  // The window that a stream should have once it has used up the one with which it began.
  uint32_t window() const { return window_; }

  // Whether a PING should be sent now, at the arrival of DATA.
  bool WantsProbe(Instant now) const { return stream_ == 0 && now >= next_; }

  // A PING is sent. The peer may send `allowed` bytes more on `stream`.
  void OnProbe(Instant now, uint32_t stream, int64_t allowed) {
    begun_ = now;
    stream_ = stream;
    allowed_ = allowed;
  }

  // The stream of the probe that was not answered yet; 0: there is none.
  uint32_t stream() const { return stream_; }

  // Since the probe, the peer was allowed to send `bytes` more on `stream`.
  void OnAllowed(uint32_t stream, uint32_t bytes) {
    if (stream == stream_) allowed_later_ += bytes;
  }

  // The answer came. `allowed`: how many bytes the peer may send on the stream now. `waiting`: how
  // many of its bytes were received and have not left. The stream was open all the time.
  void OnAnswer(Instant now, int64_t allowed, int64_t waiting) {
    round_trip_ = std::min(round_trip_, now - begun_);
    const int64_t left = allowed - allowed_later_;
    const bool peer_waits = left <= allowed_ / kSlack && waiting <= window_ / kSlack;
    const bool grows = peer_waits && window_ < Enough();
    if (grows) window_ = std::min(2 * window_, kMostBytes);
    End(grows ? now : now + kPause);
  }

  // The answer came, but the stream has ended before.
  void OnLateAnswer(Instant now) { End(now + kPause); }

 private:
  // Less than this part of a window counts as nothing: some peers send no frame that small.
  static constexpr int64_t kSlack = 8;

  int64_t Enough() const {
    return std::min<int64_t>(absl::ToInt64Microseconds(round_trip_) * kBytesPerMicrosecond,
                             kMostBytes);
  }

  void End(Instant next) {
    stream_ = 0;
    allowed_later_ = 0;
    next_ = next;
  }

  uint32_t window_;
  uint32_t stream_ = 0;
  int64_t allowed_ = 0;
  int64_t allowed_later_ = 0;
  Instant begun_;
  Instant next_;
  absl::Duration round_trip_ = absl::Minutes(1);  // the shortest one of this connection
};

}  // namespace levee::h2
