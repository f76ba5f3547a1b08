// SPDX-License-Identifier: Apache-2.0
// When a sidecar that was told to stop may end: the phases of the drain.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Decides, and does nothing itself: facts and the time come in, the next step comes out. The caller
// carries out the step. One thread.
//
//   serving -> draining   the sidecar is not ready any more, but still takes connections and calls
//           -> leaving    callers have been told to go elsewhere
//           -> stopped
//
// It drains until nothing has happened for kQuiet, or until the timeout. It leaves for kLeaving at
// least, and until no call is left or until the timeout. A second signal stops it at once.
class Drain {
 public:
  // A caller that has not yet heard that the sidecar is not ready has this long to come.
  static constexpr absl::Duration kQuiet = absl::Seconds(1);

  // A request that a caller sent before it was told to go is still served in this time.
  static constexpr absl::Duration kLeaving = absl::Milliseconds(200);

  // How often Look is due from the begin of the drain to its end.
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(20);

  enum class Step {
    kNone,
    kBegin,     // say that the sidecar is not ready; call Look every kLookEvery from now on
    kAnnounce,  // tell the callers to go elsewhere
    kStop,      // end the calls that are left, and everything else
  };

  // What the workers are doing.
  struct Load {
    int64_t active = 0;            // calls and streams that are open now
    uint64_t begun = 0;            // calls that have begun since the start of the process
    uint64_t tunnelled_bytes = 0;  // since the start of the process; the calls in a tunnel are not
                                   // known, so the bytes stand for them
  };

  // The process got a signal that asks it to stop. `timeout`: how long the drain may take. A signal
  // that follows Ask is the first signal, and changes nothing.
  Step OnSignal(Instant now, absl::Duration timeout);

  // An operator asks for the drain. Does nothing if it has begun.
  Step Ask(Instant now, absl::Duration timeout);

  // A caller has connected.
  void OnConnection(Instant now) { last_busy_ = now; }

  // Time has passed.
  Step Look(Instant now, const Load& load);

  bool begun() const { return phase_ != Phase::kServing; }
  bool stopped() const { return phase_ == Phase::kStopped; }

 private:
  enum class Phase { kServing, kDraining, kLeaving, kStopped };

  bool IsBusy(const Load& load);
  Step Stop();

  Phase phase_ = Phase::kServing;
  bool signalled_ = false;
  Instant deadline_;
  Instant last_busy_;  // the last moment with an active call, a new call or a new connection
  Instant leave_until_;
  uint64_t begun_ = 0;  // as of the last look
  uint64_t tunnelled_bytes_ = 0;
};

}  // namespace levee
