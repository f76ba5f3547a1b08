// SPDX-License-Identifier: Apache-2.0
// Sidecars that share a limit by leases, on virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/lease_script_model.h"
#include "policy/permit_lease.h"

namespace levee {

struct FleetPlan {
  int sidecars = 10;
  LeaseRule rule;
  double demand = 1;  // calls of all sidecars, as a multiple of the rate; by Zipf's law
  absl::Duration span = absl::Seconds(10);
  absl::Duration delay = absl::Microseconds(500);   // of the store, there and back
  absl::Duration timeout = absl::Milliseconds(50);  // of a request, and of a call that waits
  double loss = 0;                                  // of answers
};

class LeaseFleet {
 public:
  LeaseFleet(const FleetPlan& plan, uint64_t seed);

  // Does `event` at `at` in the run.
  void At(absl::Duration at, std::function<void()> event) {
    events_.emplace(Instant() + at, std::move(event));
  }
  void Run();

  bool store_away = false;
  absl::Duration delay;
  LeaseScriptModel store;

  int64_t calls = 0;
  int64_t refused = 0;
  int64_t requests = 0;
  absl::Duration longest_wait;
  std::vector<Instant> admitted;
  PermitLease::State State(int sidecar) const {
    return sidecars_[static_cast<size_t>(sidecar)].lease.StateAt(plan_.rule, now_);
  }

  // Of the calls between two times in the run, per second.
  double AdmittedRate(absl::Duration from, absl::Duration to) const;
  // The most calls that were admitted in any `window`.
  int64_t MostIn(absl::Duration window) const;

 private:
  struct Sidecar {
    PermitLease lease;
    double per_second = 0;
    std::vector<Instant> waiting;  // since when, the longest first
  };

  void Arrive(Sidecar& sidecar);
  void Decide(Sidecar& sidecar, Instant since);
  void Request(Sidecar& sidecar, const LeaseRequest& request);
  void Answered(Sidecar& sidecar);
  absl::Duration Gap(double per_second);

  const FleetPlan plan_;
  Random random_;
  Instant now_;
  std::multimap<Instant, std::function<void()>> events_;
  std::vector<Sidecar> sidecars_;
};

}  // namespace levee
