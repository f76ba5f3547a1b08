// SPDX-License-Identifier: Apache-2.0
// The counts of one run of the demo, and the results computed from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "demo/clients.h"
#include "demo/schedule.h"

namespace levee::demo {

// Levee's view of the same run.
struct BudgetState {
  double available = 0;  // Retries left in the window.
  double limit = 0;      // Retries allowed in it.
  double refused = 0;    // Retries that the budget refused since the sidecar's start.
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

class RunRecord {
 public:
  explicit RunRecord(const Schedule& schedule) : schedule_(schedule) {}

  // Samples must come in the order of their times; the first is at 0.
  void Add(const Sample& sample) { samples_.push_back(sample); }

  const Schedule& schedule() const { return schedule_; }
  bool empty() const { return samples_.empty(); }
  // The run's age at the last sample.
  absl::Duration length() const { return empty() ? absl::ZeroDuration() : samples_.back().at; }

  // Returns the rates from the last sample at or before `from` to the last one at or before `to`.
  Rates Over(absl::Duration from, absl::Duration to) const;

  // Returns the rates of the last `window`.
  Rates Latest(absl::Duration window) const;

 private:
  const Sample& At(absl::Duration at) const;

  Schedule schedule_;
  std::vector<Sample> samples_;
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
