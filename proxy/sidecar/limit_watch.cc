// SPDX-License-Identifier: Apache-2.0
#include "sidecar/limit_watch.h"

#include <utility>

#include "telemetry/exposition.h"

namespace levee {

void LimitWatch::Start() {
  if (!log_.Enabled(EventKind::kLimitReached)) return;
  wheel_.Arm(*this, loop_.now() + kLookEvery);
}

void LimitWatch::OnTimer(Instant now) {
  Look(metrics_.LimitHits(), now);
  wheel_.Arm(*this, now + kLookEvery);
}

void LimitWatch::Look(const Hits& hits, Instant now) {
  for (const Limit limit : kAllOf<Limit, kLimits>) {
    if (hits[limit] == written_[limit]) continue;
    if (!limiters_[static_cast<size_t>(limit)].Admit(now)) continue;
    const uint64_t more = hits[limit] - std::exchange(written_[limit], hits[limit]);
    log_.Write(EventKind::kLimitReached, [&] {
      return std::vector<LogField>{{"limit", LimitName(limit)}, {"hits", more}};
    });
  }
}

}  // namespace levee
