// SPDX-License-Identifier: Apache-2.0
// Bounds the header blocks that have begun and not ended, of all connections of a worker together.
#pragma once

#include <cstddef>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "telemetry/series.h"

namespace levee {

class Http2Connection;

// A connection's part in UnfinishedBlocks. Its connection owns it.
struct UnfinishedBlock : ListLink<UnfinishedBlock> {
  explicit UnfinishedBlock(Http2Connection& of) : connection(of) {}

  Http2Connection& connection;
  size_t bytes = 0;
  Instant since;
};

// A header block, or another frame that is taken only when it is whole, costs memory before anybody
// knows which call it belongs to. It may be unfinished for kLongest. All of them together have at
// most kMaxBytes; what is above that costs the connection whose block began first, since an honest
// peer's is whole within milliseconds. A connection that reaches a bound is closed and counted. One
// thread.
class UnfinishedBlocks final : private Timer {
 public:
  static constexpr absl::Duration kLongest = absl::Seconds(10);
  static constexpr size_t kMaxBytes = 8 * 1024 * 1024;

  // Both must outlive this.
  UnfinishedBlocks(TimerWheel& wheel, WorkerSeries& series) : wheel_(wheel), series_(series) {}

  // The connection holds so many bytes of a block now; 0: of none. `anew`: not of the one that it
  // held before. May close connections, also this one.
  void Update(UnfinishedBlock& block, size_t bytes, bool anew, Instant now);

  // The connection holds no block any more.
  void Remove(UnfinishedBlock& block);

 private:
  void OnTimer(Instant now) override;

  TimerWheel& wheel_;
  WorkerSeries& series_;
  IntrusiveList<UnfinishedBlock> blocks_;  // in the order in which they began
  size_t total_bytes_ = 0;
};

}  // namespace levee
