// SPDX-License-Identifier: Apache-2.0
// The workers and listeners of a sidecar, from their start to their orderly end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "call/planned_features.h"
#include "call/policy_tables.h"
#include "call/replay_memory.h"
#include "insight/limit_view.h"
#include "insight/store_board.h"
#include "insight/tls_destinations.h"
#include "log/event_log.h"
#include "net/handshakes.h"
#include "net/line_writer.h"
#include "server/span_sink.h"
#include "server/worker.h"
#include "settings/snapshot.h"
#include "sidecar/answers.h"
#include "sidecar/configured_endpoints.h"
#include "sidecar/drain.h"
#include "sidecar/endpoint_source.h"
#include "sidecar/key_sweep.h"
#include "sidecar/lease_sources.h"
#include "sidecar/limit_services.h"
#include "sidecar/limit_watch.h"
#include "sidecar/listener_set.h"
#include "sidecar/memory_watch.h"
#include "sidecar/shared_stores.h"
#include "telemetry/metrics.h"

namespace levee {

// Worker 0 runs in the thread that calls Run, and accepts connections for all workers, which get
// them in turn. One thread creates, runs and destroys the sidecar; it is "its thread" below. Above
// 30 functions: it makes, runs, reloads and shows what all workers share, and these are not parted
// yet. Above 20 data members: for the same reason.
class Sidecar : private Timer {
 public:
  // Binds every listener of the snapshot. A busy port is an error, which names the port and the
  // field to change. `workers`: 1 or more. `access_log`: nullptr if there is none; it outlives the
  // sidecar, or the reload that puts another one in its place. `spans` outlives the sidecar. Above
  // 6 parameters: each of the references is to an object that lives longer and has another owner.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       RecentCalls& recent_calls,
                                                       net::LineWriter* access_log, SpanSink& spans,
                                                       EventLog& log);
  ~Sidecar() override;

  // The loop of its thread.
  net::EventLoop& loop() { return workers_[0]->loop(); }

  // Its thread, before Run.
  std::vector<ListenerSet::Bound> listeners() const { return listeners_.bound(); }

  // From now on the calls of an upstream also go to the endpoints that `source` tells of it. No two
  // sources tell of the same upstream, and none tells anything once the sidecar is destroyed. The
  // endpoints that the configuration lists need no such call. Its thread, before Run.
  void Follow(EndpointSource& source);

  // The ports for operators, to which no call and no tunnel may lead. Any thread.
  void SetControlPorts(const std::vector<net::Address>& ports) {
    for (const auto& worker : workers_) worker->PostControlPorts(ports);
  }

  // Serves until SIGTERM or SIGINT has led to an orderly end (class Drain), or until a second
  // signal has ended it at once.
  void Run();

  // Replaces the running configuration. Nothing changes if a listener cannot be opened or the drain
  // has begun. Waits until every worker has taken the configuration over; afterwards no worker uses
  // the access log of before. Returns the listeners that there are now. Cancelled: Run has
  // returned, and nothing has changed.
  //
  // Listeners, connections, budgets and limits that the new configuration has as well stay. A call
  // keeps the configuration that it began with until its end. The callers of listeners that are
  // gone are told to go elsewhere. If nothing but endpoints differs and the access log is the same,
  // the workers also keep their plans and the snapshot that they have. Any thread but a worker's;
  // one call at a time.
  absl::StatusOr<std::vector<ListenerSet::Bound>> Reload(std::shared_ptr<const Snapshot> snapshot,
                                                         net::LineWriter* access_log);

  // Begins the drain as SIGTERM does; the first signal after it changes nothing. Returns false if
  // the drain had begun before. Any thread.
  // `until_signal`: as Drain::Ask.
  bool StartDrain(bool until_signal = false);
  bool draining() const { return draining_.load(std::memory_order_relaxed); }

  // The answer of /readyz: true from the moment when the listeners are bound until the drain
  // begins. Any thread.
  bool ready() const { return ready_.load(std::memory_order_relaxed); }

  // Any thread.
  int64_t replay_bytes() const;
  MemoryGauges memory() const {
    return {.held = memory_.Held(AllocatedBlockBytes()), .limit = memory_.limit()};
  }
  std::vector<BudgetGauges> budgets() const;
  std::map<std::string, double> throttle_probabilities() const {
    return tables_.throttles.Probabilities(net::ReadClock());
  }

  // By upstream.
  std::map<std::string, GuardState> guards() const;
  std::map<std::string, DedupeGauges> dedupes() const;
  std::map<std::string, LeaseState> leases() const;

  // The stores and limits that are shared with other sidecars.
  std::vector<StoreView> stores() const { return store_board_.Read(); }
  std::vector<LimitView> limits() const;

  // Where tunnels that carry TLS lead.
  std::vector<std::string> tls_destinations() const { return tls_destinations_.Read(); }

  // Asks every worker for its view of the endpoints. Waits until all have answered, but at most a
  // second and not longer than Run; returns the views that have come. Any thread but a worker's.
  std::vector<EndpointView> endpoints() const;

 private:
  using Bound = std::vector<ListenerSet::Bound>;

  Sidecar(const std::shared_ptr<const Snapshot>& snapshot, int workers, Metrics& metrics,
          RecentCalls& recent_calls, SpanSink& spans, EventLog& log);

  std::vector<std::unique_ptr<Worker>> MakeWorkers(const std::shared_ptr<const Snapshot>& snapshot,
                                                   int count);
  void LookAtLeases();
  void HoldConfigured(const std::shared_ptr<const Snapshot>& snapshot);
  absl::Status Take(const std::shared_ptr<const Snapshot>& snapshot, net::LineWriter* access_log,
                    const std::function<void(const Bound&)>& applied);
  void TakeEndpoints(const EndpointLists& endpoints,
                     const std::function<void(const Bound&)>& applied);
  void Accepted(net::ByteStream stream, ConnectionOrigin origin);
  void ShakeHands(net::ByteStream stream, ConnectionOrigin origin, Worker& worker);
  void CarryOut(Drain::Step step);
  void MoveDoor(const std::string& listener, bool open);
  void OnTimer(Instant now) override;
  void StopAll();
  Drain::Load LoadNow();
  uint64_t open_connections() const;

  // The snapshot that holds for accepting and draining. Only for its thread, in which worker 0
  // runs.
  const Snapshot& snapshot() const { return workers_[0]->snapshot(); }

  // Everything that calls share and that the configuration holds.
  struct Held {
    std::shared_ptr<const Snapshot> snapshot;  // owns the policies
    std::vector<PlannedFeatures> features;     // by upstream, policy and shadow of a route
    std::vector<PlannedLimits> limits;         // by policy
    std::shared_ptr<TieTable> ties;
  };

  MethodKinds methods_;
  Ties ties_;
  StoreBoard store_board_;
  SharedStores stores_;
  LimitServices limit_services_;
  LeaseSources lease_sources_{stores_, limit_services_};
  PolicyTables tables_;
  Held held_;
  ReplayMemory replay_;
  MemoryAccount memory_;
  TlsDestinations tls_destinations_;
  CaptureLoops capture_loops_;
  Shared shared_;
  mutable Answers answers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<net::Handshakes> handshakes_;  // from the first caller with TLS on
  ConfiguredEndpoints endpoints_;
  net::LineWriter* access_log_ = nullptr;  // that the workers have
  ListenerSet listeners_;
  LimitWatch limit_watch_;
  MemoryWatch memory_watch_;
  KeySweep key_sweep_;
  Drain drain_;
  size_t next_worker_ = 0;
  uint64_t accepted_ = 0;  // connections since the start, without those that were refused
  std::atomic<bool> ready_ = false;
  std::atomic<bool> draining_ = false;
};

}  // namespace levee
