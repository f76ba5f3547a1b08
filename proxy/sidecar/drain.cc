// SPDX-License-Identifier: Apache-2.0
#include "sidecar/drain.h"

#include <utility>

namespace levee {

Drain::Step Drain::OnSignal(Instant now, absl::Duration timeout) {
  if (std::exchange(signalled_, true)) return Stop();
  const Step step = Ask(now, timeout);
  if (deadline_.is_infinite()) deadline_ = now + timeout;
  return step;
}

Drain::Step Drain::Ask(Instant now, absl::Duration timeout, bool until_signal) {
  if (begun()) return Step::kNone;
  phase_ = Phase::kDraining;
  last_busy_ = now;
  deadline_ = until_signal ? Instant::Infinite() : now + timeout;
  return Step::kBegin;
}

Drain::Step Drain::Look(Instant now, const Load& load) {
  if (IsBusy(load) || deadline_.is_infinite()) last_busy_ = now;
  const bool late = now >= deadline_;
  const bool quiet = now - last_busy_ >= kQuiet;
  // Neither its callers nor the application itself will call any more.
  const bool alone = signalled_ && load.application_gone && load.all() == 0;
  if (phase_ == Phase::kDraining && (late || quiet || alone)) {
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
