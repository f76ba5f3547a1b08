// SPDX-License-Identifier: Apache-2.0
#include "policy/lease_fleet.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace levee {

LeaseFleet::LeaseFleet(const FleetPlan& plan, uint64_t seed)
    : delay(plan.delay),
      plan_(plan),
      random_(seed),
      // The bucket of a store that has just come up is full.
      now_(Instant()),
      sidecars_(static_cast<size_t>(plan.sidecars)) {
  double sum = 0;
  for (int rank = 1; rank <= plan.sidecars; ++rank) sum += 1.0 / rank;
  for (int rank = 1; rank <= plan.sidecars; ++rank) {
    Sidecar& sidecar = sidecars_[static_cast<size_t>(rank - 1)];
    sidecar.per_second = plan.rule.per_second * plan.demand / (rank * sum);
    At(Gap(sidecar.per_second), [this, &sidecar] { Arrive(sidecar); });
  }
}

absl::Duration LeaseFleet::Gap(double per_second) {
  return absl::Seconds(-std::log(1 - random_.Uniform()) / per_second);
}

void LeaseFleet::Run() {
  const Instant end = Instant() + plan_.span;
  while (!events_.empty() && events_.begin()->first < end) {
    auto event = events_.extract(events_.begin());
    now_ = event.key();
    event.mapped()();
  }
}

void LeaseFleet::Arrive(Sidecar& sidecar) {
  ++calls;
  Decide(sidecar, now_);
  At(now_ - Instant() + Gap(sidecar.per_second), [this, &sidecar] { Arrive(sidecar); });
}

void LeaseFleet::Decide(Sidecar& sidecar, Instant since) {
  const PermitLease::Decision decision = sidecar.lease.Take(plan_.rule, now_);
  if (decision.request.want > 0) Request(sidecar, decision.request);
  if (decision.verdict == PermitLease::Verdict::kAwaitsLease) {
    sidecar.waiting.push_back(since);
    return;
  }
  longest_wait = std::max(longest_wait, now_ - since);
  if (decision.verdict == PermitLease::Verdict::kRefused) {
    ++refused;
  } else {
    admitted.push_back(now_);
  }
}

void LeaseFleet::Request(Sidecar& sidecar, const LeaseRequest& request) {
  ++requests;
  const absl::Duration now = now_ - Instant();
  const bool lost = random_.Uniform() < plan_.loss;
  if (store_away) {
    At(now + plan_.timeout, [this, &sidecar] {
      sidecar.lease.OnLost(plan_.rule, plan_.sidecars, now_);
      Answered(sidecar);
    });
    return;
  }
  At(now + delay / 2, [this, &sidecar, request, lost, back = delay / 2] {
    const LeaseGrant grant = store.Run(plan_.rule, request, now_);
    const absl::Duration rest = lost ? plan_.timeout - back : back;
    At(now_ - Instant() + rest, [this, &sidecar, grant, lost] {
      if (lost) {
        sidecar.lease.OnLost(plan_.rule, plan_.sidecars, now_);
      } else {
        sidecar.lease.OnGrant(plan_.rule, grant, now_);
      }
      Answered(sidecar);
    });
  });
}

void LeaseFleet::Answered(Sidecar& sidecar) {
  for (const Instant since : std::exchange(sidecar.waiting, {})) Decide(sidecar, since);
}

double LeaseFleet::AdmittedRate(absl::Duration from, absl::Duration to) const {
  const auto begin = std::ranges::lower_bound(admitted, Instant() + from);
  const auto end = std::ranges::lower_bound(admitted, Instant() + to);
  return static_cast<double>(end - begin) / absl::ToDoubleSeconds(to - from);
}

int64_t LeaseFleet::MostIn(absl::Duration window) const {
  int64_t most = 0;
  size_t first = 0;
  for (size_t last = 0; last < admitted.size(); ++last) {
    while (admitted[last] - admitted[first] >= window) ++first;
    most = std::max(most, static_cast<int64_t>(last - first + 1));
  }
  return most;
}

}  // namespace levee
