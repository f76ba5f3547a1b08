// What the admin servers show and do, as the sidecar provides it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "insight/recent_calls.h"
#include "settings/config_status.h"
#include "telemetry/metrics.h"
#include "upstream/endpoint_view.h"

namespace levee {

// Each function may be called from any thread but the workers', several at a time, until the
// servers have stopped. What they refer to outlives the servers.
struct AdminSources {
  Metrics& metrics;
  RecentCalls& calls;
  int workers = 1;
  std::string version, commit;
  Instant started;        // where seconds are counted from
  absl::Time started_at;  // the wall clock's at that moment

  std::function<Instant()> clock;
  std::function<absl::Time()> wall_clock;
  std::function<std::vector<Metrics::BudgetGauges>()> budgets;

  // Asks every worker, so it takes a turn of their loops; after a second without an answer, which
  // a sidecar that stops does not give, what there is by then. Readers of the state share what
  // StateKeeper::Endpoints has got from it.
  std::function<std::vector<EndpointView>()> endpoints;

  std::function<ConfigStatus()> config;
  std::function<bool()> ready;     // what /readyz says
  std::function<bool()> draining;  // the drain has begun

  // Begins the drain. False if it had begun before.
  std::function<bool()> drain;

  // Where calls are taken, for people: "egress 127.0.0.1:9460". May be empty.
  std::function<std::vector<std::string>()> listeners = nullptr;
};

}  // namespace levee
