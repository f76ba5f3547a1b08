// SPDX-License-Identifier: Apache-2.0
// The state of a sidecar's upstreams over the last minutes, with its last calls, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/instant.h"
#include "insight/history.h"
#include "insight/numbered_calls.h"
#include "insight/recent_calls.h"
#include "telemetry/metrics.h"
#include "telemetry/upstream_totals.h"

namespace levee {

// Which part of the state a reader wants.
struct StateQuery {
  std::string upstream;    // only this upstream and its calls; empty: all
  std::string details_of;  // samples of this upstream only; empty: of all
  uint32_t since = 0;      // samples and calls after this second
};

// One upstream.
struct UpstreamPast {
  std::string name;
  HistorySample recent;  // the sum of the last `seconds`
  int seconds = 1;       // at most StateRecord::kRecentSeconds
  int seconds_empty = 0;
  uint32_t last_called = 0;
  size_t later = 0;                    // how many samples there are after StateQuery::since
  std::vector<HistorySample> samples;  // these samples; empty if they are too many, or not wanted
};

struct RecentState {
  uint32_t second = 0;  // the last one that was recorded
  std::vector<UpstreamPast> upstreams;
  std::vector<NumberedCalls::Call> calls;
};

// Not thread-safe: the owner updates it once a second and answers readers under a lock of its own.
// The class reads no clock.
class StateRecord {
 public:
  static constexpr int kRecentSeconds = 10;
  // If more samples than this are wanted at once, all samples are left out.
  static constexpr size_t kMaxSamples = 3000;

  // Records second `second`, counted from `started`. The arguments are the state at its end.
  // `calls` are those that were remembered after the call `last_call`. `second` grows from call to
  // call. The first call, and the first one after Pause, only note the counters, so that earlier
  // events are part of no sample. Above 6 parameters: each is one part of the record.
  void Update(uint32_t second, Instant started, const std::vector<UpstreamTotals>& totals,
              const std::vector<BudgetGauges>& budgets,
              const std::map<std::string, double>& throttles,
              const std::map<std::string, GuardState>& guards,
              const std::vector<RememberedCall>& calls);

  // The id of the last call that was recorded; 0: none was.
  uint64_t last_call() const { return calls_.last_id(); }

  // Nothing is recorded until the next Update.
  void Pause() { begun_ = false; }

  // Whether Update was called since the start or since Pause.
  bool begun() const { return begun_; }

  // The last second that was recorded; 0 before the first.
  uint32_t second() const { return history_.second(); }

  // Returns the upstreams that `query` wants: those of `configured`, in its order, and after them
  // the upstreams that were called in the last minutes without being among these.
  RecentState Read(const StateQuery& query, const std::vector<std::string>& configured) const;

 private:
  std::vector<std::string> Shown(const std::string& upstream,
                                 const std::vector<std::string>& configured) const;
  UpstreamPast PastOf(const std::string& name, uint32_t since) const;

  bool begun_ = false;
  History history_;
  NumberedCalls calls_;
};

}  // namespace levee
