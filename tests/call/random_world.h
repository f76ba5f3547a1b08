// SPDX-License-Identifier: Apache-2.0
// One sidecar with a random policy, random upstreams and random callers, and what must hold of it.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "call/call_invariants.h"
#include "call/random_policy.h"
#include "sim/sim_admission.h"
#include "sim/sim_sidecar.h"

namespace levee {

// Everything is drawn from the seed. Failed checks are failures of the current test.
class RandomWorld {
 public:
  explicit RandomWorld(uint64_t seed);

  // Makes all calls, checks what holds at any time as each one comes, and in the end what holds of
  // each call.
  void Run();

  // Before Run: a shadow of the same policy decides beside it, and neither lacks budget. Run checks
  // that they agree in every call.
  void AddTwin();

 private:
  Answer RandomAnswer();
  Answer Failure();
  RequestFacts Facts();
  void Arrive();
  void Speak(SimHost& call);

  Random random_;
  const Draws draws_{[this](uint64_t bound) { return random_.Below(bound); },
                     [this] { return random_.Uniform(); }};
  SimClock clock_;
  SimAdmission admission_{clock_, [this] { return RandomDelay(draws_); }};
  SimSidecar sidecar_;
  const double calls_per_second_;
  const double failing_;
  int calls_left_ = 200;
  FactsOfCalls facts_;
};

}  // namespace levee
