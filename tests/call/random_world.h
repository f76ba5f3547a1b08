// SPDX-License-Identifier: Apache-2.0
// One sidecar with a random policy, random upstreams and random callers, and what must hold of it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "call/call_invariants.h"
#include "call/drawn_config.h"
#include "call/random_leases.h"
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

  // The policy as the configuration has it, for a failure's message.
  const std::string& yaml() const { return config_.yaml; }

  // Calls that have begun in all worlds of the process, and the seed of the last world. They are
  // printed if an invariant is broken, which ends the process.
  static int64_t calls() { return calls_; }
  static uint64_t seed() { return seed_; }

 private:
  struct Caller {
    RequestFacts facts;
    std::vector<LimitKey> rate_keys;
    std::string dedupe_key;
    SimOrigin origin;
    int retries_left = 0;  // that the application makes itself
    std::string request;   // whole; empty: it is sent in pieces
  };

  void Share();
  Answer RandomAnswer();
  Answer Failure();
  Answer EndOf(Answer answer, bool head, absl::Duration at);
  Answer Good();
  void Arrive();
  void Describe(Caller& caller);
  void Begin(Caller& caller);
  void Speak(SimHost& call, const Caller& caller);
  void SendPiece(SimHost& call, int number);
  void RetryLater(const Caller& caller, StatusCode code);

  static int64_t calls_;
  static uint64_t seed_;

  Random random_;
  const Draws draws_{[this](uint64_t bound) { return random_.Below(bound); },
                     [this] { return random_.Uniform(); }};
  const Side side_;
  const DrawnConfig config_;
  SimClock clock_;
  SimAdmission admission_{clock_, [this] { return RandomDelay(draws_); }};
  RandomLeases leases_{clock_, draws_};
  SimSidecar sidecar_;
  const double calls_per_second_;
  const double failing_;
  const bool has_outages_;
  const double repeating_;  // the share of calls whose key another one has, too
  bool is_out_ = false;
  bool is_twin_ = false;
  int calls_left_ = 200;
  std::deque<Caller> callers_;  // what the calls were started with outlives them
  FactsOfCalls facts_;
};

}  // namespace levee
