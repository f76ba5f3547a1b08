// SPDX-License-Identifier: Apache-2.0
// Tells people what is asked of a store, and when it is away.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "base/instant.h"
#include "log/conditions.h"
#include "log/event_log.h"
#include "telemetry/metrics.h"

namespace levee {

// The metrics and events of one store, or rate limit service. One thread.
class StoreWatch {
 public:
  // The references outlive it.
  StoreWatch(Metrics& metrics, EventLog& log, const std::string& store)
      : log_(log), store_(store), series_(metrics.Store(store)) {}
  ~StoreWatch() { series_.connected.Set(0); }
  StoreWatch(const StoreWatch&) = delete;
  StoreWatch& operator=(const StoreWatch&) = delete;

  // A request has ended after `took`.
  void OnRequest(StoreResult result, absl::Duration took) {
    series_.requests[result].Add();
    const bool replied = result == StoreResult::kOk || result == StoreResult::kError;
    if (replied) series_.seconds.Observe(absl::ToInt64Nanoseconds(took));
  }

  // Requests can be sent, or cannot. `reason`: why not.
  void OnConnected(bool connected, const std::string& reason, Instant now) {
    series_.connected.Set(connected ? 1 : 0);
    if (connected) {
      away_.End(now);
    } else {
      away_.Report(log_, store_, /*subject=*/"", reason, now);
    }
  }

 private:
  EventLog& log_;
  const std::string store_;
  StoreSeries& series_;
  Condition away_{ConditionKind::kStoreAway};
};

}  // namespace levee
