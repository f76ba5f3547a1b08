// SPDX-License-Identifier: Apache-2.0
// The attempts of a simulated sidecar that wait for a connection.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"
#include "call/call_host.h"
#include "policy/connect_gate.h"
#include "policy/waiting_places.h"
#include "sim/sim_clock.h"
#include "sim/sim_endpoints.h"

namespace levee {

class SimHost;

// The simulator's counterpart of how upstream/pool.h lets calls wait (`connect_wait`), by the same
// rules. The clock's events refer to it.
class SimConnectLine {
 public:
  // `wait`: the upstream's connect_wait. All outlive it.
  SimConnectLine(SimClock& clock, SimEndpoints& endpoints, WaitingPlaces& places,
                 absl::Duration wait);
  SimConnectLine(const SimConnectLine&) = delete;
  SimConnectLine& operator=(const SimConnectLine&) = delete;

  // An attempt asks for an endpoint, and there is none or others wait. Returns false if it is to
  // fail, since it may not wait. Otherwise SimHost::Connect or FailToConnect follows, in a later
  // turn, unless it leaves.
  bool Join(SimHost& host, AttemptId attempt, const AttemptStart& start);

  // Whether attempts that ask have to queue.
  bool busy() const { return !line_.empty(); }

  // An attempt waits no more.
  void Leave(const SimHost& host, AttemptId attempt);

  // An attempt was answered, or is over.
  void OnAnswer() {
    gate_.OnAnswer();
    LookSoon();
  }
  void OnEnd() { LookSoon(); }

 private:
  struct Waiting {
    SimHost* host;
    AttemptId attempt;
    Instant until;
    std::optional<Instant> held_since;  // it has a place, since nothing can be reached
  };

  void LookSoon();
  void Look();
  bool Hold(Waiting& waiting);
  void Release();
  void EndHopeless();

  SimClock& clock_;
  SimEndpoints& endpoints_;
  WaitingPlaces& places_;
  const absl::Duration wait_;
  std::deque<Waiting> line_;
  ConnectGate gate_;
  bool looks_ = false;
};

}  // namespace levee
