// SPDX-License-Identifier: Apache-2.0
// A running sidecar as its control ports see it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "insight/limit_view.h"
#include "insight/recent_calls.h"
#include "insight/store_board.h"
#include "settings/config_status.h"
#include "telemetry/gauge_source.h"
#include "telemetry/metrics.h"
#include "upstream/endpoint_view.h"

namespace levee {

// Outlives the servers of the control ports. Any thread but a worker's may call any function,
// several at a time.
class SidecarView : public GaugeSource {
 public:
  // These facts do not change while the sidecar runs. The references outlive the view.
  struct Facts {
    Metrics& metrics;
    RecentCalls& calls;
    int workers = 1;
    std::string version, commit;
    Instant started;        // seconds are counted from here
    absl::Time started_at;  // the wall clock at that moment
  };

  explicit SidecarView(Facts facts) : facts_(std::move(facts)) {}

  const Facts& facts() const { return facts_; }

  virtual Instant Now() const = 0;
  virtual absl::Time WallNow() const = 0;

  // Asks every worker, which takes a turn of their loops. After a second without all answers (a
  // sidecar that stops gives none) returns those that there are. Readers of the state share one
  // result by StateKeeper::Endpoints.
  virtual std::vector<EndpointView> Endpoints() const = 0;

  virtual ConfigStatus Config() const = 0;
  virtual bool Ready() const = 0;     // the answer of /readyz
  virtual bool Draining() const = 0;  // the drain has begun

  // Begins the drain; `until_signal`: it goes on until the process is told to stop. Returns false
  // if it had begun before.
  virtual bool StartDrain(bool until_signal) = 0;

  // The addresses on which calls are taken, for people: "egress 127.0.0.1:9460".
  virtual std::vector<std::string> Listeners() const = 0;

  // Where tunnels that carry TLS lead: "bank.test:443".
  virtual std::vector<std::string> TlsDestinations() const = 0;

  // By the socket of a Workload API, why it gives nothing newer, if something is wrong.
  virtual std::map<std::string, std::string> IdentityFaults() const = 0;

  // The state that is shared with other sidecars.
  virtual std::vector<StoreView> Stores() const = 0;
  virtual std::vector<LimitView> Limits() const = 0;

 private:
  const Facts facts_;
};

}  // namespace levee
