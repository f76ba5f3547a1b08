// SPDX-License-Identifier: Apache-2.0
// Ends callers' connections that carry nothing (`limits.idle_timeout`).
#pragma once

#include "absl/time/time.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "conn/worker_io.h"
#include "server/downstream_connection.h"
#include "server/raw_tunnel.h"

namespace levee {

// Looks at all connections of one worker, kLooks times in the timeout. A connection on which no
// call ran and none began for that long, up to a quarter longer, gets GOAWAY in its graceful form,
// and the final one at the next look, which ends it. A tunnel through which nothing passed is
// closed. PINGs keep no connection. One thread.
class IdleWatch final : private Timer {
 public:
  // All references must outlive it.
  IdleWatch(WorkerIo& io, IntrusiveList<DownstreamConnection>& connections,
            IntrusiveList<RawTunnel>& tunnels)
      : io_(io), connections_(connections), tunnels_(tunnels) {}

  // Above zero; infinite: no connection is ended.
  void SetTimeout(absl::Duration timeout);

 private:
  static constexpr int kLooks = 8;

  void OnTimer(Instant now) override;

  WorkerIo& io_;
  IntrusiveList<DownstreamConnection>& connections_;
  IntrusiveList<RawTunnel>& tunnels_;
  absl::Duration timeout_ = absl::InfiniteDuration();
};

}  // namespace levee
