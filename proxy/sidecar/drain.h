// SPDX-License-Identifier: Apache-2.0
// Decides when a sidecar that was told to stop may end: the phases of the drain.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Only decides: its functions take facts and the time, and return the next step, which the caller
// carries out. One thread.
//
//   serving -> draining   the sidecar is not ready any more, but still takes connections and calls
//           -> leaving    callers have been told to go elsewhere
//           -> stopped
//
// A drain that is to go on until a signal comes stays in the phase "draining" until then: a sidecar
// that stops with its application begins it while that still serves.
//
// The phase "draining" ends when the application has gone, and no call is left, or when nothing has
// happened for kQuiet, or at the timeout. Streams that are open are nothing that happens: they may
// last for ever, and only learn by being told that they have to go elsewhere. The phase "leaving"
// lasts at least kLeaving, and ends when no call and no stream is left, or at the timeout. A second
// signal stops the sidecar at once.
class Drain {
 public:
  // A caller that does not know yet that the sidecar is not ready may still connect for this long.
  static constexpr absl::Duration kQuiet = absl::Seconds(1);

  // A request that a caller sent before it was told to go elsewhere arrives within this time, and
  // is still served.
  static constexpr absl::Duration kLeaving = absl::Milliseconds(200);

  // How often Look must be called from the begin of the drain to its end.
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(20);

  enum class Step {
    kNone,
    // Report that the sidecar is not ready, and tell the callers of inbound listeners to go
    // elsewhere; call Look every kLookEvery from now on.
    kBegin,
    kAnnounce,  // tell the callers to go elsewhere
    kStop,      // end the calls that are left, and then the sidecar
  };

  // The workers' load.
  struct Load {
    int64_t active = 0;             // calls that are under way now, without those that are streams
    int64_t streams = 0;            // calls that are streams
    bool application_gone = false;  // the application takes no connections
    uint64_t begun = 0;             // calls that have begun since the start of the process
    uint64_t tunnelled_bytes = 0;   // since the start of the process; they stand for the calls in
                                    // tunnels, which are not known
    int64_t all() const { return active + streams; }
  };

  // The process got a signal that asks it to stop. `timeout`: how long the drain may take. A signal
  // after Ask counts as the first one, and changes nothing.
  Step OnSignal(Instant now, absl::Duration timeout);

  // An operator asks for the drain. Does nothing if it has begun. `until_signal`: it goes on until
  // a signal comes, from which on `timeout` counts.
  Step Ask(Instant now, absl::Duration timeout, bool until_signal = false);

  // A caller has connected.
  void OnConnection(Instant now) { last_busy_ = now; }

  // Time has passed. Called every kLookEvery during the drain.
  Step Look(Instant now, const Load& load);

  bool begun() const { return phase_ != Phase::kServing; }
  bool stopped() const { return phase_ == Phase::kStopped; }

 private:
  enum class Phase { kServing, kDraining, kLeaving, kStopped };

  bool IsBusy(const Load& load);
  Step Stop();

  Phase phase_ = Phase::kServing;
  bool signalled_ = false;
  Instant deadline_;   // Infinite: a signal is awaited
  Instant last_busy_;  // the last moment with an active call, a new call or a new connection
  Instant leave_until_;
  uint64_t begun_ = 0;  // at the last Look
  uint64_t tunnelled_bytes_ = 0;
};

}  // namespace levee
