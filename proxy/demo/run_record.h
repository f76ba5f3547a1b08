// SPDX-License-Identifier: Apache-2.0
// The counts of one run of the demo, and the results computed from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "demo/call_times.h"
#include "demo/clients.h"
#include "demo/schedule.h"

namespace levee::demo {

// Levee's view of a run with a retry budget.
struct BudgetState {
  double available = 0;  // Retries left.
  double at_once = 0;    // Retries left of a full budget.
  double refused = 0;    // Retries that the budget refused since the sidecar's start.
};

// Levee's view of a run with a guard. Counts are since the sidecar's start.
struct GuardState {
  double attempts = 0;   // Calls that came to it, each attempt of a caller being one.
  double refused = 0;    // Of these.
  double limit = 0;      // Calls that the service may work on at a time.
  double in_flight = 0;  // Calls that it works on.
  double waiting = 0;    // Calls in the queue.
};

struct GuardSample {
  absl::Duration at;  // Since the run's start.
  GuardState state;
};

// Counts since the run's start.
struct Sample {
  absl::Duration at;
  CallCounts calls;
  int64_t attempts = 0;  // Requests that arrived at the service.
};

// Rates per second, between two samples.
struct Rates {
  double calls = 0;
  double ok = 0;
  double attempts = 0;
  // The share of the ended calls that succeeded; 0 if none ended.
  double success = 0;

  // 0 without calls.
  double AttemptsPerCall() const { return calls > 0 ? attempts / calls : 0; }
};
Rates Between(const Sample& from, const Sample& to);

// Attempts per second at a guard.
struct GuardRates {
  double attempts = 0;
  double refused = 0;
};

class RunRecord {
 public:
  explicit RunRecord(const Schedule& schedule) : schedule_(schedule) {}

  // Samples must come in the order of their times; the first is at 0.
  void Add(const Sample& sample) { samples_.push_back(sample); }

  // The same holds for what a guard says.
  void AddGuard(const GuardSample& sample) { guard_.push_back(sample); }

  // How long the good calls took that ended in the storm. Known from the storm's end.
  void SetStormTimes(const CallTimes& times) { storm_times_ = times; }
  const CallTimes& storm_times() const { return storm_times_; }

  const Schedule& schedule() const { return schedule_; }
  bool empty() const { return samples_.empty(); }
  // The run's age at the last sample.
  absl::Duration length() const { return empty() ? absl::ZeroDuration() : samples_.back().at; }

  // Returns the rates from the last sample at or before `from` to the last one at or before `to`.
  Rates Over(absl::Duration from, absl::Duration to) const;

  // Returns the rates of the last `window`.
  Rates Latest(absl::Duration window) const;

  // Returns what the guard said last; nullopt if it has said nothing.
  std::optional<GuardState> LatestGuard() const;

  // Returns the rates between the first and the last time in a span that the guard said something;
  // nullopt if there was one such time at most.
  std::optional<GuardRates> GuardOver(absl::Duration from, absl::Duration to) const;

 private:
  const Sample& At(absl::Duration at) const;

  Schedule schedule_;
  std::vector<Sample> samples_;
  std::vector<GuardSample> guard_;
  CallTimes storm_times_;
};

struct Summary {
  double storm_load = 0;  // Attempts per second.
  double recovery_load = 0;
  double amplification = 0;  // Attempts per call from the storm's start to the run's end.
  double worst_second = 0;   // The most attempts per call within a second of that time.
  double calm_goodput = 0;   // Successful calls per second.
  double storm_goodput = 0;
  double recovery_goodput = 0;
  // From the fault's end to the first second in which the share of successful calls was at least
  // 99% of the share in the calm. nullopt: the run has no such second.
  std::optional<absl::Duration> recovery;
};
Summary Summarize(const RunRecord& record);

}  // namespace levee::demo
