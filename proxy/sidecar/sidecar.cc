// SPDX-License-Identifier: Apache-2.0
#include "sidecar/sidecar.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "net/descriptors.h"
#include "net/terminal.h"
#include "server/request_head.h"
#include "settings/dedupe_room.h"
#include "sidecar/shared_limit.h"

namespace levee {
namespace {

// How long to wait for the workers. A loop that runs answers within a turn; one that has ended
// never answers.
constexpr absl::Duration kPatience = absl::Seconds(1);

Hops MakeHops() {
  Random random(net::RandomSeed());
  return NewHops(random);
}

// How many authorities that callers name have a budget of their own.
int MostAuthorities(const Snapshot& snapshot) {
  return DestinationTable::MostNamed(snapshot.limits.destinations,
                                     MemoryWatch::LimitOf(snapshot.limits), /*workers=*/1);
}

bool IsInbound(const Snapshot& snapshot, const std::string& listener) {
  return std::any_of(snapshot.listeners.begin(), snapshot.listeners.end(),
                     [&](const ListenerSpec& spec) {
                       return spec.name == listener && spec.direction == Direction::kInbound;
                     });
}

// How many connections with TLS may wait for their caller's first byte: so few that they never keep
// others from being accepted.
int SilentCallers(const Limits& limits) {
  constexpr int64_t kMost = 1024, kShare = 8;
  const int64_t descriptors = net::DescriptorsForCallers(net::DescriptorLimit());
  const int64_t connections = std::min<int64_t>(limits.connections, descriptors);
  return static_cast<int>(std::clamp<int64_t>(connections / kShare, 1, kMost));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       RecentCalls& recent_calls,
                                                       net::LineWriter* access_log, SpanSink& spans,
                                                       EventLog& log) {
  std::unique_ptr<Sidecar> sidecar(
      new Sidecar(snapshot, workers, metrics, recent_calls, spans, log));
  sidecar->Follow(sidecar->endpoints_);
  const absl::Status taken = sidecar->Take(snapshot, access_log, [](const auto&) {});
  if (!taken.ok()) return taken;
  for (const int signal : {net::kTerminateSignal, net::kInterruptSignal}) {
    sidecar->loop().OnSignal(signal, [sidecar = sidecar.get()] {
      sidecar->CarryOut(
          sidecar->drain_.OnSignal(sidecar->loop().now(), sidecar->snapshot().drain_timeout));
    });
  }
  sidecar->limit_watch_.Start();
  sidecar->memory_watch_.Start();
  sidecar->key_sweep_.Start();
  sidecar->ready_ = true;
  return sidecar;
}

Sidecar::Sidecar(const std::shared_ptr<const Snapshot>& snapshot, int workers, Metrics& metrics,
                 RecentCalls& recent_calls, SpanSink& spans, EventLog& log)
    : ties_(net::RandomSeed(),
            [this](TraceNumber trace) {
              for (const auto& worker : workers_) worker->PostGone(trace);
            }),
      stores_({metrics, log, store_board_}, [this] { LookAtLeases(); }),
      limit_services_({metrics, log, store_board_}, [this] { LookAtLeases(); }),
      tables_(
          {.workers = workers,
           .max_authorities = MostAuthorities(*snapshot),
           .wake_for_guards =
               [this](int worker) { workers_[static_cast<size_t>(worker)]->PostLookAtGuards(); },
           .wake_for_keys =
               [this](int worker) { workers_[static_cast<size_t>(worker)]->PostLookAtDedupes(); },
           .leases = &lease_sources_,
           .keys = &stores_.keys(),
           .seed = net::RandomSeed()}),
      replay_(snapshot->limits.replay_bytes),
      memory_(MemoryWatch::LimitOf(snapshot->limits)),
      capture_loops_(log),
      shared_{metrics,
              tables_,
              replay_,
              memory_,
              recent_calls,
              tls_destinations_,
              log,
              methods_,
              ties_,
              capture_loops_,
              spans,
              [this](const std::string& listener, bool open) { MoveDoor(listener, open); },
              MakeHops()},
      workers_(MakeWorkers(snapshot, workers)),
      listeners_(
          workers_[0]->loop(), workers_[0]->wheel(),
          [this](net::ByteStream stream, ConnectionOrigin origin) {
            Accepted(std::move(stream), std::move(origin));
          },
          [this] { shared_.metrics.Worker(0).limit_hits[Limit::kDescriptors].Add(); }),
      limit_watch_(log, metrics, workers_[0]->loop(), workers_[0]->wheel()),
      memory_watch_(memory_, workers_[0]->loop(), workers_[0]->wheel(),
                    [this] {
                      for (const auto& worker : workers_) worker->loop().Post([] {});
                    }),
      key_sweep_(tables_.dedupes, metrics.Worker(0).limit_hits[Limit::kDedupeBytes],
                 workers_[0]->loop(), workers_[0]->wheel()) {}

std::vector<std::unique_ptr<Worker>> Sidecar::MakeWorkers(
    const std::shared_ptr<const Snapshot>& snapshot, int count) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(i, snapshot, shared_));
  }
  return workers;
}

Sidecar::~Sidecar() {
  // They tell the workers of answers.
  stores_.Stop();
  limit_services_.Stop();
  listeners_.Close();
  Timer::Unlink();
}

void Sidecar::LookAtLeases() {
  for (const auto& worker : workers_) worker->PostLookAtLeases();
}

// Holds what the features of the configuration's policies share, and its ties, so that they and
// their metrics exist from the start, and keep their state when the workers release them.
void Sidecar::HoldConfigured(const std::shared_ptr<const Snapshot>& snapshot) {
  tables_.dedupes.SetRoom(DedupeRoom(*snapshot, memory_.limit()));
  const auto policy_at = [&](int index) { return &snapshot->policies[static_cast<size_t>(index)]; };
  Held held{.snapshot = snapshot};
  std::set<std::tuple<int, int, std::optional<int>>> known;  // many routes may want the same
  for (const Route& route : snapshot->routes.routes()) {
    const RoutePolicies policies{
        .policy = *policy_at(route.policy),
        .shadow = route.shadow.has_value() ? policy_at(*route.shadow) : nullptr};
    for (const int number : route.Upstreams()) {
      if (!known.emplace(number, route.policy, route.shadow).second) continue;
      const std::string& upstream = snapshot->upstreams[static_cast<size_t>(number)].name;
      held.features.emplace_back(tables_, policies, PlannedFor{upstream, "", net::ReadClock()});
      FeatureSeries(shared_.metrics, /*worker=*/0, upstream, policies);
    }
  }
  std::vector<std::shared_ptr<RateLimiter>> limits;
  for (const CallPolicy& policy : snapshot->policies) {
    const PlannedLimits& planned = held.limits.emplace_back(tables_, policy);
    limits.insert(limits.end(), planned.owned.begin(), planned.owned.end());
    for (const RateLimitPolicy& limit : policy.rate_limits) {
      shared_.metrics.RateLimit(/*worker=*/0, policy.name, limit.name);
    }
  }
  stores_.Configure(snapshot->stores, limits);
  limit_services_.Configure(limits);
  if (snapshot->tie.has_value()) held.ties = ties_.Get(snapshot->tie->max_traces);
  // The new ones are held before the old ones are released. So a budget of both configurations
  // stays.
  held_ = std::move(held);
}

// Takes a configuration over, in one turn of worker 0, and does first what can fail. So no
// connection comes from a new listener before its worker has been sent the new configuration. Each
// worker calls `applied` in its thread.
absl::Status Sidecar::Take(const std::shared_ptr<const Snapshot>& snapshot,
                           net::LineWriter* access_log,
                           const std::function<void(const Bound&)>& applied) {
  auto closed = listeners_.Replace(snapshot->listeners);
  if (!closed.ok()) return closed.status();
  tables_.SetMaxAuthorities(MostAuthorities(*snapshot));
  replay_.Resize(snapshot->limits.replay_bytes);
  memory_.SetLimit(MemoryWatch::LimitOf(snapshot->limits));
  if (handshakes_ != nullptr) {
    handshakes_->SetMost(snapshot->limits.handshakes, SilentCallers(snapshot->limits));
  }
  HoldConfigured(snapshot);
  access_log_ = access_log;
  endpoints_.Set(snapshot->endpoints);  // An upstream that is new has them from its first call on.
  WorkerConfig config{.snapshot = snapshot,
                      .access_log = access_log,
                      .own_listeners = {},
                      .closed_sockets = *std::move(closed)};
  const Bound bound = listeners_.bound();
  for (const ListenerSet::Bound& listener : bound) {
    // Calls of the application may go to the application itself, through its inbound listener.
    if (IsInbound(*snapshot, listener.name)) continue;
    config.own_listeners.push_back(listener.address);
  }
  for (const auto& worker : workers_) {
    worker->PostConfig(config, [bound, applied] { applied(bound); });
  }
  return absl::OkStatus();
}

// The same when nothing but endpoints differs from the snapshot that the workers have.
void Sidecar::TakeEndpoints(const EndpointLists& endpoints,
                            const std::function<void(const Bound&)>& applied) {
  endpoints_.Set(endpoints);
  for (const auto& worker : workers_) {
    worker->loop().Post([bound = listeners_.bound(), applied] { applied(bound); });
  }
}

void Sidecar::Follow(EndpointSource& source) {
  source.Start([this](const std::string& upstream, const auto& endpoints) {
    for (const auto& worker : workers_) worker->PostEndpoints(upstream, endpoints);
  });
}

absl::StatusOr<std::vector<ListenerSet::Bound>> Sidecar::Reload(
    std::shared_ptr<const Snapshot> snapshot, net::LineWriter* access_log) {
  using Result = absl::StatusOr<Bound>;
  // All workers give the same answer. There is no answer only if Run returned before worker 0 could
  // begin; once it has begun, all workers answer before their loops end.
  const auto result = std::make_shared<Answers::Pending<Result>>(
      workers_.size(), absl::CancelledError("the sidecar has ended"));
  loop().Post([this, next = std::move(snapshot), access_log, result] {
    const auto applied = [this, result](const Bound& bound) {
      answers_.Add(*result, [&bound](Result& value) { value = bound; });
    };
    absl::Status taken;
    if (drain_.begun()) {
      taken = absl::FailedPreconditionError("the sidecar is draining");
    } else if (next->sha256_without_endpoints == this->snapshot().sha256_without_endpoints &&
               access_log == access_log_) {
      TakeEndpoints(next->endpoints, applied);
    } else {
      taken = Take(next, access_log, applied);
    }
    if (!taken.ok()) answers_.Close<Result>(*result, std::move(taken));
  });
  return answers_.Wait(*result, absl::InfiniteDuration());
}

void Sidecar::Accepted(net::ByteStream stream, ConnectionOrigin origin) {
  drain_.OnConnection(loop().now());
  if (open_connections() >= static_cast<uint64_t>(snapshot().limits.connections)) {
    shared_.metrics.Worker(0).limit_hits[Limit::kConnections].Add();
    return;
  }
  if (memory_.Level(AllocatedBlockBytes(), MemoryLevel::kPlenty) >= MemoryLevel::kFull) {
    shared_.metrics.Worker(0).limit_hits[Limit::kMemory].Add();
    return;
  }
  ++accepted_;
  origin.accepted_at = loop().now();
  Worker& worker = *workers_[next_worker_];
  next_worker_ = (next_worker_ + 1) % workers_.size();
  if (origin.listener->tls == nullptr) {
    worker.PostConnection(std::move(stream), std::move(origin));
  } else {
    ShakeHands(std::move(stream), std::move(origin), worker);
  }
}

void Sidecar::ShakeHands(net::ByteStream stream, ConnectionOrigin origin, Worker& worker) {
  if (handshakes_ == nullptr) {
    handshakes_ = std::make_unique<net::Handshakes>(net::Handshakes::Bounds{
        .most = snapshot().limits.handshakes, .silent = SilentCallers(snapshot().limits)});
  }
  std::shared_ptr<const tls::Context> tls = origin.listener->tls;
  handshakes_->Begin(
      std::move(stream), std::move(tls),
      [&worker, origin = std::move(origin)](net::ByteStream shaken, bool refused) mutable {
        if (refused) {
          worker.PostHandshakeRefused();
        } else {
          worker.PostConnection(std::move(shaken), std::move(origin));
        }
      });
}

uint64_t Sidecar::open_connections() const {
  uint64_t open = accepted_;
  for (const auto& worker : workers_) open -= worker->connections_ended();
  return open;
}

void Sidecar::Run() {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([worker = workers_[i].get()] { worker->loop().Run(); });
  }
  loop().Run();
  for (std::thread& thread : threads) thread.join();
  answers_.End();
}

void Sidecar::MoveDoor(const std::string& listener, bool open) {
  shared_.log.Write(open ? EventKind::kApplicationBack : EventKind::kApplicationGone, [&] {
    return std::vector<LogField>{{"listener", listener}};
  });
  const absl::Status moved = listeners_.SetOpen(listener, open);
  if (moved.ok()) return;
  shared_.log.Write(EventKind::kPortLost, [&] {
    return std::vector<LogField>{{"reason", std::string(moved.message())}};
  });
}

bool Sidecar::StartDrain(bool until_signal) {
  if (draining_.exchange(true)) return false;
  loop().Post([this, until_signal] {
    CarryOut(drain_.Ask(loop().now(), snapshot().drain_timeout, until_signal));
  });
  return true;
}

void Sidecar::CarryOut(Drain::Step step) {
  switch (step) {
    case Drain::Step::kNone:
      break;
    case Drain::Step::kBegin:
      draining_ = true;
      ready_ = false;
      shared_.log.Write(EventKind::kDrainBegun, [this] {
        return std::vector<LogField>{
            {"calls", LoadNow().all()},
            {"timeout_seconds", snapshot().drain_timeout / absl::Seconds(1)}};
      });
      for (const auto& worker : workers_) worker->PostGoaway(Direction::kInbound);
      workers_[0]->wheel().Arm(*this, loop().now() + Drain::kLookEvery);
      break;
    case Drain::Step::kAnnounce:
      shared_.log.Write(EventKind::kDrainGoaway, [this] {
        return std::vector<LogField>{{"calls", LoadNow().all()}};
      });
      for (const auto& worker : workers_) worker->PostGoaway(Direction::kEgress);
      break;
    case Drain::Step::kStop:
      StopAll();
      break;
  }
}

void Sidecar::OnTimer(Instant now) {
  CarryOut(drain_.Look(now, LoadNow()));
  if (!drain_.stopped()) workers_[0]->wheel().Arm(*this, now + Drain::kLookEvery);
}

void Sidecar::StopAll() {
  shared_.log.Write(EventKind::kDrainEnded, [this] {
    return std::vector<LogField>{{"calls_ended", LoadNow().all()}};
  });
  listeners_.Close();
  for (const auto& worker : workers_) worker->PostStop();
}

Drain::Load Sidecar::LoadNow() {
  Drain::Load load;
  for (const auto& worker : workers_) {
    // Each stream is also one of HTTP/2's.
    const int64_t streams = worker->active_streams();
    load.streams += streams;
    load.application_gone |= worker->application_gone();
    load.active += worker->active_calls() - streams;
    load.active += std::max<int64_t>(worker->open_streams() - streams, 0);
    load.begun += worker->calls_begun();
    load.tunnelled_bytes += worker->tunnelled_bytes();
    worker->PostCountStreams();  // The next call reads the result.
  }
  return load;
}

std::vector<EndpointView> Sidecar::endpoints() const {
  using Views = std::vector<EndpointView>;
  const auto all = std::make_shared<Answers::Pending<Views>>(workers_.size(), Views());
  for (const auto& worker : workers_) {
    worker->PostView([this, all](Views views) {
      answers_.Add(*all, [&views](Views& value) {
        std::move(views.begin(), views.end(), std::back_inserter(value));
      });
    });
  }
  return answers_.Wait(*all, kPatience);
}

std::vector<BudgetGauges> Sidecar::budgets() const {
  std::vector<BudgetGauges> gauges;
  for (const auto& [upstream, ratio, state] : tables_.budgets.Views(net::ReadClock())) {
    gauges.push_back({.upstream = upstream,
                      .available = state.available,
                      .at_once = state.at_once,
                      .limit = state.limit,
                      .floor_withheld = state.floor_withheld,
                      .ratio = ratio,
                      .waiting = state.waiting});
  }
  return gauges;
}

std::map<std::string, GuardState> Sidecar::guards() const {
  std::map<std::string, GuardState> states;
  for (const auto& [upstream, view] : tables_.guards.Views(net::ReadClock())) {
    states[upstream] = {.limit = view.limit,
                        .least = view.least,
                        .in_flight = view.in_flight,
                        .streams = view.streams,
                        .waiting = view.waiting,
                        .stands = view.stands,
                        .observes = view.observes,
                        .scope = view.scope,
                        .arrived_retry_share = RetryShare(view.arrivals),
                        .reported_retry_share = view.reported.Share()};
  }
  return states;
}

std::map<std::string, LeaseState> Sidecar::leases() const {
  std::map<std::string, LeaseState> states;
  for (const auto& [limit, state] : tables_.rate_limits.Leases(net::ReadClock())) {
    states[limit] = StateOf(state);
  }
  return states;
}

std::vector<LimitView> Sidecar::limits() const {
  const Instant now = net::ReadClock();
  std::vector<LimitView> views;
  for (const auto& [policy, limiter] : tables_.rate_limits.Shared()) {
    views.push_back(ShownLimit(policy, limiter->policy(), limiter->ViewAt(now)));
  }
  return views;
}

std::map<std::string, DedupeGauges> Sidecar::dedupes() const {
  std::map<std::string, DedupeGauges> gauges;
  for (const auto& [upstream, view] : tables_.dedupes.Views()) {
    gauges[upstream] = {.keys = view.stored.keys,
                        .bytes = view.stored.bytes,
                        .in_flight = view.stored.in_flight,
                        .forgotten = view.forgotten};
  }
  return gauges;
}

int64_t Sidecar::replay_bytes() const {
  int64_t total = 0;
  for (const auto& worker : workers_) total += worker->replay_bytes();
  return total;
}

}  // namespace levee
