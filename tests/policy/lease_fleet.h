// SPDX-License-Identifier: Apache-2.0
// Sidecars that share a limit by leases, on virtual time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/lease_script_model.h"
#include "policy/permit_lease.h"

namespace levee {

template <typename Rule>
struct FleetPlanOf {
  int sidecars = 10;
  Rule rule;
  double per_second = 1;  // the limit's rate
  double demand = 1;      // calls of all sidecars, as a multiple of the rate; by Zipf's law
  absl::Duration span = absl::Seconds(10);
  absl::Duration delay = absl::Microseconds(500);   // of the store, there and back
  absl::Duration timeout = absl::Milliseconds(50);  // of a request, and of a call that waits
  double loss = 0;                                  // of answers
};

// Store has the function LeaseGrant Run(rule, request, now).
template <typename Lease, typename Store>
class LeaseFleetOf {
 public:
  using Plan = FleetPlanOf<typename Lease::Rule>;

  LeaseFleetOf(const Plan& plan, uint64_t seed)
      : delay(plan.delay),
        plan_(plan),
        random_(seed),
        sidecars_(static_cast<size_t>(plan.sidecars)) {
    double sum = 0;
    for (int rank = 1; rank <= plan.sidecars; ++rank) sum += 1.0 / rank;
    for (int rank = 1; rank <= plan.sidecars; ++rank) {
      Sidecar& sidecar = sidecars_[static_cast<size_t>(rank - 1)];
      sidecar.per_second = plan.per_second * plan.demand / (rank * sum);
      At(Gap(sidecar.per_second), [this, &sidecar] { Arrive(sidecar); });
    }
  }

  // Does `event` at `at` in the run.
  void At(absl::Duration at, std::function<void()> event) {
    events_.emplace(Instant() + at, std::move(event));
  }
  void Run() {
    const Instant end = Instant() + plan_.span;
    while (!events_.empty() && events_.begin()->first < end) {
      auto event = events_.extract(events_.begin());
      now_ = event.key();
      event.mapped()();
    }
  }

  bool store_away = false;
  absl::Duration delay;
  Store store;

  int64_t calls = 0;
  int64_t refused = 0;
  int64_t requests = 0;
  int64_t waits = 0;  // calls that waited for an answer of the store
  absl::Duration longest_wait;
  std::vector<Instant> admitted;
  auto State(int sidecar) const {
    return sidecars_[static_cast<size_t>(sidecar)].lease.StateAt(plan_.rule, now_);
  }

  // Of the calls between two times in the run, per second.
  double AdmittedRate(absl::Duration from, absl::Duration to) const {
    const auto begin = std::ranges::lower_bound(admitted, Instant() + from);
    const auto end = std::ranges::lower_bound(admitted, Instant() + to);
    return static_cast<double>(end - begin) / absl::ToDoubleSeconds(to - from);
  }

  // The most calls that were admitted in any `window`.
  int64_t MostIn(absl::Duration window) const {
    int64_t most = 0;
    size_t first = 0;
    for (size_t last = 0; last < admitted.size(); ++last) {
      while (admitted[last] - admitted[first] >= window) ++first;
      most = std::max(most, static_cast<int64_t>(last - first + 1));
    }
    return most;
  }

 private:
  struct Sidecar {
    Lease lease;
    double per_second = 0;
    std::vector<Instant> waiting;  // since when, the longest first
  };

  absl::Duration Gap(double per_second) {
    return absl::Seconds(-std::log(1 - random_.Uniform()) / per_second);
  }

  void Arrive(Sidecar& sidecar) {
    ++calls;
    Decide(sidecar, now_);
    At(now_ - Instant() + Gap(sidecar.per_second), [this, &sidecar] { Arrive(sidecar); });
  }

  void Decide(Sidecar& sidecar, Instant since) {
    const LeaseDecision decision = sidecar.lease.Take(plan_.rule, now_);
    if (decision.request.want > 0) Request(sidecar, decision.request);
    if (decision.verdict == LeaseVerdict::kAwaitsLease) {
      if (since == now_) ++waits;
      sidecar.waiting.push_back(since);
      return;
    }
    longest_wait = std::max(longest_wait, now_ - since);
    if (decision.verdict == LeaseVerdict::kRefused) {
      ++refused;
    } else {
      admitted.push_back(now_);
    }
  }

  void Request(Sidecar& sidecar, const LeaseRequest& request) {
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

  void Answered(Sidecar& sidecar) {
    for (const Instant since : std::exchange(sidecar.waiting, {})) Decide(sidecar, since);
  }

  const Plan plan_;
  Random random_;
  Instant now_;
  std::multimap<Instant, std::function<void()>> events_;
  std::vector<Sidecar> sidecars_;
};

// The bucket of a store that has just come up is full.
using FleetPlan = FleetPlanOf<LeaseRule>;
using LeaseFleet = LeaseFleetOf<PermitLease, LeaseScriptModel>;

}  // namespace levee
