// SPDX-License-Identifier: Apache-2.0
// Tells people what is asked of a store, and when it is away.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "insight/store_board.h"
#include "log/conditions.h"
#include "log/event_log.h"
#include "telemetry/metrics.h"

namespace levee {

// The metrics, the events and the view of one store, or rate limit service. One thread.
class StoreWatch {
 public:
  // Where they go. All outlive it.
  struct Parts {
    Metrics& metrics;
    EventLog& log;
    StoreBoard& board;
  };

  StoreWatch(const Parts& parts, const std::string& store, StoreView::Kind kind, Instant now)
      : parts_(parts), series_(parts.metrics.Store(store)) {
    view_ = {.name = store, .kind = kind, .since = now, .failure = "not connected yet"};
    parts_.board.Put(view_);
  }
  ~StoreWatch() {
    series_.connected.Set(0);
    parts_.board.Remove(view_.name);
  }
  StoreWatch(const StoreWatch&) = delete;
  StoreWatch& operator=(const StoreWatch&) = delete;

  // A request has ended after `took`.
  void OnRequest(StoreResult result, absl::Duration took) {
    series_.requests[result].Add();
    const bool replied = result == StoreResult::kOk || result == StoreResult::kError;
    if (replied) series_.seconds.Observe(absl::ToInt64Nanoseconds(took));
  }

  // A handshake of TLS has ended, `took` after its connection was begun.
  void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) {
    series_.tls.Count(result, version, took);
  }

  // Requests can be sent, or cannot. `reason`: why not.
  void OnConnected(bool connected, const std::string& reason, Instant now) {
    series_.connected.Set(connected ? 1 : 0);
    if (connected) {
      away_.End(now);
    } else {
      away_.Report(parts_.log, view_.name, /*subject=*/"", reason, now);
    }
    const std::string failure = connected ? "" : reason;
    if (connected == view_.connected && failure == view_.failure) return;
    if (connected != view_.connected) view_.since = now;
    view_.connected = connected;
    view_.failure = failure;
    parts_.board.Put(view_);
  }

  void OnNodes(StoreView::Kind kind, std::vector<StoreView::Node> nodes) {
    view_.kind = kind;
    view_.nodes = std::move(nodes);
    parts_.board.Put(view_);
  }

 private:
  const Parts parts_;
  StoreView view_;
  StoreSeries& series_;
  Condition away_{ConditionKind::kStoreAway};
};

}  // namespace levee
