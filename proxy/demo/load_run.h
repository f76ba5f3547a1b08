// SPDX-License-Identifier: Apache-2.0
// One run of the demo: a load on the service by one kind of client, and a storm in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/instant.h"
#include "demo/arrivals.h"
#include "demo/clients.h"
#include "demo/run_record.h"
#include "demo/schedule.h"
#include "demo/service.h"
#include "levee/demo/v1/shop.grpc.pb.h"

namespace levee::demo {

// Sets the service's faults by its own RPC. If a call of it fails, the faults stay as they are.
class FaultSwitch {
 public:
  explicit FaultSwitch(const std::string& address);

  // Does not wait for the answer.
  void Set(const FaultShares& faults);

 private:
  std::unique_ptr<v1::Faults::Stub> stub_;
};

// The calls that clients make, and what the storm is.
struct Load {
  double calm_per_second = 0;  // In calm and recovery.
  double storm_per_second = 0;
  FaultShares storm_faults;
};

// Loads the service from construction to destruction. One thread.
class LoadRun {
 public:
  struct Setup {
    std::string address;  // The clients call this: the service, or Levee before it.
    ClientRetries retries = ClientRetries::kNone;
    Load load;
    Schedule schedule;
    uint64_t seed = 0;
    absl::Duration call_deadline = Clients::kDeadline;
  };

  LoadRun(const Setup& setup, const DemoService& service, FaultSwitch& faults, Instant now);

  // Starts the calls that are due, begins and ends the storm, counts. Returns when to call it
  // again.
  Instant Advance(Instant now);

  // Takes what a guard before the service has counted until `now`.
  void AddGuard(Instant now, const GuardState& guard) { record_.AddGuard({now - start_, guard}); }

  const RunRecord& record() const { return record_; }
  Phase phase() const { return phase_; }
  CallCounts calls() const { return clients_.counts(); }
  bool over() const { return record_.length() >= setup_.schedule.length(); }

 private:
  void Enter(Phase phase);
  void Count(Instant now);

  const Setup setup_;
  const DemoService& service_;
  FaultSwitch& faults_;
  const Instant start_;
  const int64_t arrived_before_;
  Phase phase_ = Phase::kCalm;
  Arrivals arrivals_;
  Instant next_count_;
  RunRecord record_;
  Clients clients_;
};

}  // namespace levee::demo
