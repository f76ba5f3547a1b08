#include "server/worker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "policy/hedging.h"
#include "server/reply.h"
#include "server/request_head.h"

namespace levee {
namespace {

// What the policy means for calls of plan.path, whose methods the upstream may describe.
void PlanPolicy(const CallPolicy& policy, const UpstreamSpec& upstream, CallPlan& plan) {
  const bool described =
      upstream.methods != nullptr && upstream.methods->idempotent.contains(plan.path);
  const bool known = policy.idempotency == IdempotencyMode::kAlways ||
                     (policy.idempotency == IdempotencyMode::kAuto && described);
  plan.idempotent =
      known || (policy.idempotency == IdempotencyMode::kAuto && !policy.key_header.empty());
  plan.policy = &policy;
  // A key lets a server drop the second of two calls, not answer both at the same time.
  if (!policy.hedge.has_value() || !known) return;
  plan.hedged = std::make_unique<const CallPolicy>(RetryPolicyOfHedging(policy));
  plan.policy = plan.hedged.get();
  plan.hedge = &*policy.hedge;
}

}  // namespace

Worker::Worker(int index, std::shared_ptr<const Snapshot> snapshot, Shared& shared)
    : index_(index),
      snapshot_(std::move(snapshot)),
      shared_(shared),
      series_(shared.metrics.Worker(index)),
      unrouted_method_(shared.metrics.Method(index, kNoUpstream, "")),
      unrouted_upstream_(shared.metrics.Upstream(index, kNoUpstream)),
      io_(loop_),
      resolver_(loop_),
      random_(net::RandomSeed()),
      replay_(shared.replay),
      environment_{io_, random_, replay_, shared.metrics, series_, index} {
  loop_.SetTurnHandler(this);
}

Worker::~Worker() {
  Stop();
  io_.EndTurn(loop_.now());
}

Instant Worker::OnTurnEnd(Instant now) {
  io_.EndTurn(now);
  return io_.wheel.NextWakeup();
}

void Worker::PostConnection(int fd) {
  loop_.Post([this, fd] { Accept(fd); });
}

void Worker::PostGoaway() {
  loop_.Post([this] { Goaway(); });
}

void Worker::PostStop() {
  loop_.Post([this] {
    Stop();
    loop_.Stop();
  });
}

h2::Session::Options Worker::DownstreamOptions() const {
  h2::Session::Options options;
  options.max_concurrent_streams = static_cast<uint32_t>(snapshot_->limits.streams_per_connection);
  options.metadata_bytes = static_cast<size_t>(snapshot_->limits.metadata_bytes);
  options.metadata_fields = static_cast<size_t>(snapshot_->limits.metadata_fields);
  return options;
}

void Worker::Accept(int fd) {
  auto* connection = new DownstreamConnection(io_, fd, DownstreamOptions(), *this);
  connections_.PushBack(*connection);
  series_.downstream_connections.Add(1);
  if (stopping_) connection->Close("the sidecar is stopping");
}

void Worker::OnDownstreamClosed(DownstreamConnection& connection) {
  series_.downstream_connections.Sub(1);
  static_cast<ListLink<DownstreamConnection>&>(connection).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&connection));
}

void Worker::OnProtocolError(std::string_view what) {
  series_.rejects[what == kNotHttp2 ? Reject::kNotHttp2 : Reject::kProtocolError].Add();
}

void Worker::OnRpcFinished(RpcStream& rpc) {
  static_cast<ListLink<RpcStream>&>(rpc).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&rpc));
}

h2::StreamHandler* Worker::OnRequest(h2::Stream& stream, Metadata& fields, bool end) {
  const RequestHead head = ReadRequestHead(fields);
  if (stream.oversized()) {
    series_.limit_hits[Limit::kMetadataBytes].Add();
    series_.rejects[Reject::kMetadata].Add();
    return Refuse(stream, StatusCode::kResourceExhausted,
                  "metadata is larger than limits.metadata_bytes or limits.metadata_fields");
  }
  if (head.method != "POST" || !IsGrpcContentType(head.content_type)) {
    series_.rejects[Reject::kNotGrpc].Add();
    ReplyNotGrpc(stream);
    return nullptr;
  }
  std::shared_ptr<CallPlan> plan = plans_.Find(head.authority, head.path);
  if (plan == nullptr) {
    auto made = MakePlan(head.authority, head.path);
    if (!made.ok()) {
      const bool no_route = made.status().code() == absl::StatusCode::kUnimplemented;
      if (no_route) series_.rejects[Reject::kNoRoute].Add();
      return Refuse(stream, no_route ? StatusCode::kUnimplemented : StatusCode::kResourceExhausted,
                    std::string(made.status().message()));
    }
    plan = *std::move(made);
  }
  plan->destination->last_used = loop_.now();
  auto* rpc = new RpcStream(environment_, *this, std::move(plan), stream, fields);
  calls_.PushBack(*rpc);
  rpc->Start(head.facts, end);
  return rpc->answered() ? nullptr : rpc;
}

h2::StreamHandler* Worker::Refuse(h2::Stream& stream, StatusCode code, const std::string& message) {
  CallRecord record;
  record.start = record.end = loop_.now();
  record.code = code;
  RecordCall(unrouted_method_, unrouted_upstream_, series_, record);
  ReplyTrailersOnly(stream, code, message);
  return nullptr;
}

absl::StatusOr<std::shared_ptr<CallPlan>> Worker::MakePlan(std::string_view authority,
                                                           std::string_view path) {
  const Route* route = snapshot_->routes.Find(authority, path);
  if (route == nullptr) {
    return absl::UnimplementedError(absl::StrCat("no route for authority \"", Abseil(authority),
                                                 "\", method \"", Abseil(path), "\""));
  }
  const UpstreamSpec& upstream = snapshot_->upstreams[route->upstream];
  const CallPolicy& policy = snapshot_->policies[route->policy];
  auto destination = FindDestination(upstream, policy, authority);
  if (!destination.ok()) return destination.status();
  auto plan = std::make_shared<CallPlan>();
  plan->snapshot = snapshot_;
  plan->destination = *std::move(destination);
  plan->path = path;
  plan->limits = PlanLimits(policy);
  PlanPolicy(policy, upstream, *plan);
  plan->method = &shared_.metrics.Method(index_, upstream.name, path);
  if (plans_.Insert(authority, path, plan)) series_.limit_hits[Limit::kRoutesCached].Add();
  return plan;
}

PlannedLimits Worker::PlanLimits(const CallPolicy& policy) {
  PlannedLimits limits;
  for (const RateLimitPolicy& limit : policy.rate_limits) {
    limits.owned.push_back(shared_.rate_limits.Get(policy.name, limit));
    limits.limiters.push_back(limits.owned.back().get());
    limits.series.push_back(&shared_.metrics.RateLimit(index_, policy.name, limit.name));
  }
  return limits;
}

const ConnectPolicy& Worker::ConnectPolicyOf(const UpstreamSpec& upstream) {
  auto [entry, is_new] = connect_policies_.try_emplace(upstream.name);
  ConnectPolicy& policy = entry->second;
  if (is_new) {
    policy.connect_timeout = upstream.connect_timeout;
    policy.reconnect = upstream.reconnect;
    policy.session = DownstreamOptions();
    policy.own_listeners = shared_.own_listeners;
  }
  return policy;
}

absl::StatusOr<std::shared_ptr<Destination>> Worker::FindDestination(const UpstreamSpec& upstream,
                                                                     const CallPolicy& policy,
                                                                     std::string_view authority) {
  const std::string dialled = upstream.by_authority() ? std::string(authority) : std::string();
  const RetryBudgetPolicy& budget = policy.retry.budget;
  std::string key = absl::StrCat(upstream.name, "\n", dialled, "\n", budget.ratio, " ",
                                 absl::ToInt64Nanoseconds(budget.window), " ",
                                 budget.floor_per_second, " ", budget.floor_min_success);
  if (const auto found = destinations_.find(key); found != destinations_.end()) {
    return found->second;
  }
  std::vector<Pool::Target> targets;
  if (upstream.by_authority()) {
    const auto target = net::SplitHostPort(authority);
    if (!target.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("cannot dial authority \"", Abseil(authority),
                       "\": it is not HOST:PORT, and the route's upstream has no endpoints"));
    }
    targets.push_back({std::string(target->host), target->port});
  }
  for (const EndpointSpec& endpoint : upstream.endpoints) {
    if (!upstream.by_authority()) targets.push_back({endpoint.host, endpoint.port});
  }
  if (!MakeRoomForDestination()) {
    return absl::ResourceExhaustedError("limits.destinations is reached and all are in use");
  }
  auto destination = std::make_shared<Destination>();
  destination->key = key;
  destination->upstream = &upstream;
  destination->budget = shared_.budgets.Get(upstream.name, dialled, budget);
  destination->series = &shared_.metrics.Upstream(index_, upstream.name);
  destination->pool = std::make_unique<Pool>(io_, resolver_, ConnectPolicyOf(upstream), random_,
                                             *destination->series, series_, targets);
  destinations_.emplace(std::move(key), destination);
  return destination;
}

bool Worker::MakeRoomForDestination() {
  if (destinations_.size() < static_cast<size_t>(snapshot_->limits.destinations)) return true;
  series_.limit_hits[Limit::kDestinations].Add();
  // Cached plans hold destinations that no call uses; they are made again as they are asked for.
  plans_.Clear();
  auto oldest = destinations_.end();
  for (auto at = destinations_.begin(); at != destinations_.end(); ++at) {
    const bool in_use = at->second.use_count() > 1;
    if (in_use) continue;
    if (oldest == destinations_.end() || at->second->last_used < oldest->second->last_used) {
      oldest = at;
    }
  }
  if (oldest == destinations_.end()) return false;
  destinations_.erase(oldest);
  return true;
}

void Worker::Goaway() {
  connections_.ForEach(
      [](DownstreamConnection& connection) { connection.session().AnnounceShutdown(); });
}

void Worker::Stop() {
  stopping_ = true;
  calls_.ForEach([](RpcStream& rpc) { rpc.EndForDrain(); });
  // What the callers are told leaves before their connections are closed.
  connections_.ForEach([](DownstreamConnection& connection) { connection.session().Shutdown(); });
  io_.Flush();
  connections_.ForEach(
      [](DownstreamConnection& connection) { connection.Close("the sidecar is stopping"); });
  for (auto& [key, destination] : destinations_) destination->pool->Close();
}

}  // namespace levee
