// SPDX-License-Identifier: Apache-2.0
// The rate limit services of a configuration, in a thread of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "conn/worker_io.h"
#include "log/event_log.h"
#include "net/resolver.h"
#include "policy/rate_limiter.h"
#include "rls/limit_service.h"
#include "sidecar/store_thread.h"
#include "sidecar/store_watch.h"
#include "telemetry/metrics.h"

namespace levee {

// Asks rate limit services for the leases of limits, so that no thread that carries calls waits for
// one or reads its answers. A service is a store in metrics and events, by its address. The thread
// runs from the first configuration with a service on.
class LimitServices final : public LeaseSource, private net::TurnHandler {
 public:
  // `answered`: called at the end of a turn in which calls that wait have got an answer, in the
  // services' thread. `told` hears of the services, and of those that go away and come back.
  LimitServices(const StoreWatch::Parts& told, std::function<void()> answered);
  ~LimitServices() { Stop(); }

  // Ends the thread: `answered` is not called any more, and no request has an answer. Idempotent.
  void Stop();

  // Replaces the services by those of `limits`; those that stay keep their connections. Any thread,
  // one at a time.
  void Configure(const std::vector<std::shared_ptr<RateLimiter>>& limits);

  // LeaseSource. Of limits that a service keeps.
  void Ask(Bucket bucket, const LeaseRequest& request) override;

 private:
  struct Service {
    Service(LimitServices& services, const RateService& spec);

    StoreWatch watch;
    LimitService client;  // As it ends, it answers what was asked.
  };
  using ServiceMap = std::map<std::string, std::unique_ptr<Service>>;  // by address

  Instant OnTurnEnd(Instant now) override;
  void Apply(const std::map<std::string, RateService>& services);
  void Request(const RateLimiter& limit, const Bucket& bucket, const LeaseRequest& request);

  const StoreWatch::Parts told_;
  StoreThread thread_;
  WorkerSeries series_;  // of no metric: it is not a worker
  EventLog silent_;      // of endpoints: `told_` hears of the services as a whole
  WorkerIo io_;
  net::Resolver resolver_;
  Random random_;
  ServiceMap services_;
};

}  // namespace levee
