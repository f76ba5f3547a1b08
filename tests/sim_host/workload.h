// Many calls on virtual time.
#pragma once

#include <cstdint>
#include <functional>

#include "call/call.h"
#include "sim_host/sim_clock.h"
#include "sim_host/sim_sidecar.h"

namespace levee {

// Callers that do not wait for answers: the n-th call comes when it comes.
struct Workload {
  double per_second = 1;
  int64_t calls = 300;
  // 0: evenly spaced. Else the seed of exponentially distributed gaps (a Poisson process).
  uint64_t poisson_seed = 0;
  // The head of the n-th request (from 0), if it is not empty.
  std::function<RequestFacts(int64_t n)> facts;
};

// Runs the workload until every call has ended.
void RunWorkload(SimSidecar& sidecar, const Workload& workload);

// What has become of the calls of a sidecar.
struct Tally {
  int64_t calls = 0;
  int64_t attempts = 0;  // those that never left excluded
  int64_t ok = 0;
  int64_t first_failed = 0;  // calls whose first attempt failed
  int64_t rescued = 0;       // of these, calls that ended with OK
  double PerCall() const { return static_cast<double>(attempts) / static_cast<double>(calls); }
  double RescuedShare() const {
    return static_cast<double>(rescued) / static_cast<double>(first_failed);
  }
};
Tally TallyOf(const SimSidecar& sidecar);

}  // namespace levee
