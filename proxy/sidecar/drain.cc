// SPDX-License-Identifier: Apache-2.0
#include "sidecar/drain.h"

#include <utility>

namespace levee {

Drain::Step Drain::OnSignal(Instant now, absl::Duration timeout) {
  if (std::exchange(signalled_, true)) return Stop();
  return Ask(now, timeout);
}

Drain::Step Drain::Ask(Instant now, absl::Duration timeout) {
  if (begun()) return Step::kNone;
  phase_ = Phase::kDraining;
  last_busy_ = now;
  deadline_ = now + timeout;
  return Step::kBegin;
}

Drain::Step Drain::Look(Instant now, const Load& load) {
  if (IsBusy(load)) last_busy_ = now;
  const bool late = now >= deadline_;
  if (phase_ == Phase::kDraining && (late || now - last_busy_ >= kQuiet)) {
    phase_ = Phase::kLeaving;
    leave_until_ = now + kLeaving;
    return Step::kAnnounce;
  }
  const bool done = load.all() == 0 || late;
  if (phase_ == Phase::kLeaving && now >= leave_until_ && done) return Stop();
  return Step::kNone;
}

// Most calls begin and end between two calls of Look, so the calls that have begun count too.
bool Drain::IsBusy(const Load& load) {
  const bool called = std::exchange(begun_, load.begun) != load.begun;
  const bool carried =
      std::exchange(tunnelled_bytes_, load.tunnelled_bytes) != load.tunnelled_bytes;
  return load.active > 0 || called || carried;
}

Drain::Step Drain::Stop() {
  return std::exchange(phase_, Phase::kStopped) == Phase::kStopped ? Step::kNone : Step::kStop;
}

}  // namespace levee
