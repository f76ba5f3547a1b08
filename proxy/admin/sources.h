// SPDX-License-Identifier: Apache-2.0
// The data and actions that the sidecar gives to the admin servers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/instant.h"
#include "insight/limit_view.h"
#include "insight/recent_calls.h"
#include "insight/store_board.h"
#include "settings/config_status.h"
#include "telemetry/metrics.h"
#include "upstream/endpoint_view.h"

namespace levee {

// Each function may be called from any thread except the workers', several at a time, until the
// servers have stopped. The references must outlive the servers.
struct AdminSources {
  Metrics& metrics;
  RecentCalls& calls;
  int workers = 1;
  std::string version, commit;
  Instant started;        // seconds are counted from here
  absl::Time started_at;  // the wall clock at that moment

  std::function<Instant()> clock;
  std::function<absl::Time()> wall_clock;
  std::function<std::vector<Metrics::BudgetGauges>()> budgets;
  Metrics::ThrottleSource throttles;
  Metrics::GuardSource guards;

  // Asks every worker, which takes a turn of their loops. After a second without all answers (a
  // sidecar that stops gives none) returns those that there are. Readers of the state share one
  // result by StateKeeper::Endpoints.
  std::function<std::vector<EndpointView>()> endpoints;

  std::function<ConfigStatus()> config;
  std::function<bool()> ready;     // the answer of /readyz
  std::function<bool()> draining;  // the drain has begun

  // Begins the drain; `until_signal`: it goes on until the process is told to stop. Returns false if
  // it had begun before.
  std::function<bool(bool until_signal)> drain;

  // The addresses on which calls are taken, for people: "egress 127.0.0.1:9460". May be empty.
  std::function<std::vector<std::string>()> listeners = nullptr;

  // Where tunnels that carry TLS lead: "bank.test:443". May be empty.
  std::function<std::vector<std::string>()> tls_destinations = nullptr;

  // By limit, and by upstream. May be empty.
  Metrics::LeaseSource leases = nullptr;
  Metrics::DedupeSource keys = nullptr;

  // By the socket of a Workload API, why it gives nothing newer, if something is wrong. May be
  // empty.
  std::function<std::map<std::string, std::string>()> identity_faults = nullptr;
  // Tell of the state that is shared with other sidecars. May be empty.
  std::function<std::vector<StoreView>()> stores = nullptr;
  std::function<std::vector<LimitView>()> limits = nullptr;
};

}  // namespace levee
