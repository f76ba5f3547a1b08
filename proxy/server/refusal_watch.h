// SPDX-License-Identifier: Apache-2.0
// Tells operators when a retry budget or a guard refuses calls, and when that is over.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "guard/guard_line.h"
#include "log/conditions.h"
#include "policy/retry_budget.h"
#include "server/call_plan.h"

namespace levee {

// One worker's watch. A budget or a guard refuses from its first refusal until there was none for
// kQuiet. Nothing runs while nothing is refused. One thread.
class RefusalWatch final : private Timer {
 public:
  // As long as the usual window of a budget, in which it fills again.
  static constexpr absl::Duration kQuiet = absl::Seconds(10);

  // `io` outlives it.
  explicit RefusalWatch(WorkerIo& io) : io_(io) {}

  // The budget of calls to `destination` has refused a retry.
  void OnRefused(const std::shared_ptr<RetryBudget>& budget, const Destination& destination);

  // The guard in front of `destination` has refused a call, or would have if it did not only
  // observe, of which nothing is told.
  void OnRefused(const std::shared_ptr<GuardLine>& guard, const Destination& destination);

 private:
  struct Watched {
    Watched(ConditionKind kind, std::shared_ptr<const void> kept)
        : what(std::move(kept)), condition(kind) {}

    const std::shared_ptr<const void> what;  // no other gets its address
    Instant refused_at;                      // the last time
    int64_t refused = 0;
    Condition condition;
  };

  // Returns what is known of a refusal's origin; the condition of a new one is not reported yet.
  Watched& Note(ConditionKind kind, const std::shared_ptr<const void>& what);
  void OnTimer(Instant now) override;

  WorkerIo& io_;
  absl::flat_hash_map<const void*, std::unique_ptr<Watched>> watched_;
};

}  // namespace levee
