// SPDX-License-Identifier: Apache-2.0
// The values that other objects hold and a scrape of the metrics shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/guard_state.h"
#include "telemetry/series.h"

namespace levee {

// Of one budget of an upstream.
struct BudgetGauges {
  std::string upstream;
  double available = 0;
  double at_once = 0;
  double limit = 0;
  bool floor_withheld = false;
  double ratio = 0;
  int64_t waiting = 0;  // retries that wait for a success to pay for them
};

// The size of the idempotency stores of an upstream.
struct DedupeGauges {
  size_t keys = 0;
  size_t bytes = 0;
  size_t in_flight = 0;    // keys that a call of this sidecar has; no metric shows them
  uint64_t forgotten = 0;  // outcomes, before their time, since the start
};

// The memory that is held, and limits.memory.
struct MemoryGauges {
  int64_t held = 0;
  int64_t limit = 0;
};

// Lines that could not be written, so far.
struct LostLines {
  uint64_t access_log = 0;
  uint64_t log = 0;
};

// Any thread but a worker's may call any function, several at a time.
class GaugeSource {
 public:
  virtual ~GaugeSource() = default;

  // An upstream can have several budgets (destinations of `authority:`). A scrape shows the one
  // with the fewest retries available, and the sum of what waits. Each upstream is named from the
  // start.
  virtual std::vector<BudgetGauges> Budgets() const = 0;

  // By upstream; of several throttles of one, the largest probability.
  virtual std::map<std::string, double> Throttles() const = 0;

  // By upstream.
  virtual std::map<std::string, GuardState> Guards() const = 0;
  virtual std::map<std::string, DedupeGauges> Keys() const = 0;

  // By shared rate limit.
  virtual std::map<std::string, LeaseState> Leases() const = 0;

  // Bytes of requests that are kept for retries.
  virtual int64_t ReplayBytes() const = 0;

  virtual MemoryGauges Memory() const = 0;
  virtual LostLines Lost() const = 0;
};

}  // namespace levee
