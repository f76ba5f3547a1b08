// SPDX-License-Identifier: Apache-2.0
// Simulated upstreams.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/answer.h"
#include "sim/app_loop.h"
#include "sim/sim_sidecar.h"

namespace levee {

// The n-th attempt gets the n-th answer, those after the last get the last. Copies count together,
// so several endpoints may share one script.
Service InTurn(std::vector<Answer> answers);

// Fails that share of the attempts, each independently, with trailers-only UNAVAILABLE.
Service Flaky(double failing, uint64_t seed);

// A service of limited capacity: attempts are served in the order in which they came, each by one
// of `slots` for half to one and a half times `work`, evenly distributed. Work goes on when the
// caller has gone. All answers are OK.
struct Capacity {
  int slots = 40;
  absl::Duration work = absl::Milliseconds(100);
  // From `cut_at` (of the clock) on, for `cut_for`, everything takes 1 / `left` times as long;
  // 0: everything stands still.
  absl::Duration cut_at = absl::InfiniteDuration();
  absl::Duration cut_for = absl::ZeroDuration();
  double left = 1;

  double PerSecond() const { return slots / absl::ToDoubleSeconds(work); }
};
Service InSlots(SimClock& clock, const Capacity& capacity, uint64_t seed);

// A service whose handler makes one call through its own sidecar `next` and answers what that call
// ends with. As generated code does, it passes the deadline on but not the attempt header. The
// trace is passed on, too. Its answers are trailers-only.
struct Handler {
  bool passes_trailers = true;  // else the code and message alone
  AppLoop loop;                 // by which it calls
};
Service Through(SimSidecar& next, Handler handler = {});

// An instance of a service that is called by the sidecar `caller` on one connection, and has the
// sidecar `inbound` before it. The calls have the default priority. Headers and trailers pass, and
// so do the reports of `caller` about its retries, once a second at most. `method`: by which a
// guard knows the calls.
Service Behind(SimSidecar& inbound, SimSidecar& caller, int method = 0);

}  // namespace levee
