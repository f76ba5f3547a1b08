// SPDX-License-Identifier: Apache-2.0
#include "server/worker.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "base/host_port.h"
#include "server/connection_events.h"
#include "server/connection_options.h"
#include "server/reply.h"
#include "server/request_head.h"
#include "tls/session.h"
#include "wire/content_type.h"

namespace levee {
namespace {

constexpr char kNotRedirected[] =
    "this connection was not redirected to Levee's port, and its listener takes no others: call "
    "the service itself, or add h2c to the listener's `capture`";

// Whether the caller connected to a port that takes redirected connections only.
bool IsNotCaptured(const ConnectionOrigin& origin) {
  return !origin.listener->capture.h2c && origin.leads_to().empty();
}

}  // namespace

Worker::Worker(int index, std::shared_ptr<const Snapshot> snapshot, Shared& shared)
    : index_(index),
      snapshot_(std::move(snapshot)),
      shared_(shared),
      series_(shared.metrics.Worker(index)),
      unrouted_method_(shared.metrics.Method(index, kNoUpstream, "")),
      unrouted_upstream_(shared.metrics.Upstream(index, kNoUpstream)),
      io_(loop_, series_, shared.log),
      resolver_(loop_, io_.wheel),
      random_(net::RandomSeed()),
      replay_(shared.replay),
      waiting_places_(snapshot_->limits.waiting_calls),
      log_(shared.recent_calls, random_),
      refusal_watch_(io_),
      leases_(io_.wheel),
      ties_{shared.ties, random_, series_},
      environment_{io_,   random_,        replay_,        shared.metrics, series_,
                   log_,  refusal_watch_, shared.methods, leases_,        shared.hops,
                   ties_, shared.spans,   index},
      doors_(io_, destinations_, connections_, calls_, log_,
             [this](const std::string& listener, bool open) {
               application_gone_ = doors_.AllClosed();
               if (index_ == 0) shared_.door_moved(listener, open);
             }),
      destinations_({.io = io_,
                     .resolver = resolver_,
                     .random = random_,
                     .metrics = shared.metrics,
                     .failed_calls = failed_calls_,
                     .waiting = waiting_places_,
                     .own_listeners = own_addresses_,
                     .watcher = doors_,
                     .memory = shared.memory,
                     .plans = plans_,
                     .tables = shared.tables,
                     .worker = index},
                    *snapshot_, ConnectionOptions(Peer::kUpstream)),
      guards_(io_.wheel, index),
      tunnel_environment_{.io = io_,
                          .resolver = resolver_,
                          .own_addresses = own_addresses_,
                          .capture_loops = shared.capture_loops,
                          .tls_destinations = shared.tls_destinations},
      relief_(shared.memory, io_, {accepted_, connections_, tunnels_, calls_}, destinations_),
      idle_(io_, connections_, tunnels_) {
  loop_.SetTurnHandler(this);
}

Worker::~Worker() {
  Stop();
  AllowBlocks(INT64_MAX);  // No turn follows.
  io_.EndTurn(loop_.now());
}

Instant Worker::OnTurnEnd(Instant now) {
  relief_.TakeHeldBack();
  io_.EndTurn(now);
  if (relief_.Look()) {
    io_.EndTurn(now);
    relief_.OnEnded();
  }
  return io_.next_turn_is_due() ? now : io_.wheel.NextWakeup();
}

void Worker::PostConfig(WorkerConfig config, std::function<void()> applied) {
  loop_.Post([this, config = std::move(config), applied = std::move(applied)] {
    Apply(config);
    applied();
  });
}

void Worker::PostEndpoints(const std::string& upstream,
                           std::shared_ptr<const EndpointList> endpoints) {
  loop_.Post([this, upstream, endpoints = std::move(endpoints)] {
    destinations_.SetEndpoints(upstream, endpoints);
  });
}

void Worker::PostGone(TraceNumber trace) {
  loop_.Post([this, trace] {
    for (RpcStream* const rpc : following_.Of(trace)) rpc->OnFollowedGone();
  });
}

void Worker::PostConnection(net::ByteStream stream, ConnectionOrigin origin) {
  loop_.Post([this, stream = std::move(stream), origin = std::move(origin)]() mutable {
    Accept(std::move(stream), std::move(origin));
  });
}

void Worker::PostHandshakeRefused() {
  loop_.Post([this] {
    series_.limit_hits[Limit::kHandshakes].Add();
    connections_ended_.Add();
  });
}

void Worker::PostControlPorts(std::vector<net::Address> ports) {
  loop_.Post([this, ports = std::move(ports)] { SetOwnAddresses(listeners_, ports); });
}

void Worker::SetOwnAddresses(std::vector<net::Address> listeners, std::vector<net::Address> ports) {
  listeners_ = std::move(listeners);
  control_ports_ = std::move(ports);
  std::vector<net::Address> all = listeners_;
  all.insert(all.end(), control_ports_.begin(), control_ports_.end());
  if (std::exchange(own_addresses_, std::move(all)) != own_addresses_) destinations_.ForgetLoops();
}

void Worker::PostView(std::function<void(std::vector<EndpointView>)> done) {
  loop_.Post([this, done = std::move(done)] { done(destinations_.View()); });
}

void Worker::PostCountStreams() {
  loop_.Post([this] {
    int64_t streams = 0;
    connections_.ForEach([&](DownstreamConnection& connection) {
      streams += static_cast<int64_t>(connection.session().stream_count());
    });
    open_streams_.store(streams, std::memory_order_relaxed);
  });
}

void Worker::PostGoaway(Direction direction) {
  loop_.Post([this, direction] { Goaway(direction); });
}

void Worker::PostStop() {
  loop_.Post([this] {
    Stop();
    loop_.Stop();
  });
}

Http2Connection::Options Worker::ConnectionOptions(Peer peer) const {
  return ConnectionOptionsOf(peer, snapshot_->limits, shared_.memory.limit());
}

// Calls that are under way keep the plans that they have, and with them the snapshot.
void Worker::Apply(const WorkerConfig& config) {
  snapshot_ = config.snapshot;
  log_.SetLines(config.access_log);
  plans_.Clear();
  waiting_places_.Resize(snapshot_->limits.waiting_calls);
  idle_.SetTimeout(snapshot_->limits.idle_timeout);
  shared_.methods.Keep(*snapshot_);
  destinations_.Reload(*snapshot_, ConnectionOptions(Peer::kUpstream));
  doors_.Reload(*snapshot_);
  SetOwnAddresses(config.own_listeners, control_ports_);
  closed_sockets_.insert(config.closed_sockets.begin(), config.closed_sockets.end());
  connections_.ForEach([&](DownstreamConnection& connection) {
    connection.SetListener(snapshot_->ListenerRefOf(*connection.origin().listener));
    if (absl::c_linear_search(config.closed_sockets, connection.origin().socket)) {
      connection.session().AnnounceShutdown();
    }
  });
}

void Worker::Accept(net::ByteStream stream, ConnectionOrigin origin) {
  if (stopping_) return;
  // The system answers for connections that were not redirected, too.
  if (IsOwn(origin.original)) origin.original.clear();
  origin.number = ++connections_accepted_;
  io_.log.Write(EventKind::kConnectionAccepted, [&] { return ConnectionFields(origin); });
  NamePeer(stream.peer(), stream.tls() == nullptr ? "" : stream.tls()->PeerIdentity(),
           io_.log.Enabled(EventKind::kConnectionAccepted), origin);
  accepted_.PushBack(*new AcceptedConnection(io_, std::move(stream), std::move(origin), *this));
  series_.downstream_connections.Add(1);
}

// Whether the address leads to one of this sidecar's ports.
bool Worker::IsOwn(std::string_view address) const {
  const auto parts = SplitHostPort(address);
  if (!parts.has_value()) return false;
  const auto to = net::Address::FromIp(parts->host, parts->port);
  return to.has_value() &&
         absl::c_any_of(own_addresses_, [&](const net::Address& own) { return to->Reaches(own); });
}

void Worker::ConnectionEnded() {
  series_.downstream_connections.Sub(1);
  connections_ended_.Add();
}

void Worker::Bury(AcceptedConnection& connection) {
  static_cast<ListLink<AcceptedConnection>&>(connection).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&connection));
}

void Worker::Bury(RawTunnel& tunnel) {
  series_.tunnels.Sub(1);
  static_cast<ListLink<RawTunnel>&>(tunnel).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&tunnel));
}

void Worker::Serve(const ConnectionOrigin& origin, net::ByteStream stream, ByteSpan first) {
  io_.log.Write(EventKind::kConnectionIdentified, [&] {
    return ConnectionFields(origin, {{"protocol", "http2"}});
  });
  if (doors_.IsClosed(origin.listener->name)) {
    // The port is closed in a moment. A connection that comes meanwhile ends as the port refuses
    // it: a call on it could be the second try, and libraries make no third.
    io_.log.Write(EventKind::kConnectionClosed, [&] {
      return ConnectionFields(origin, {{"reason", "the application takes no connections"}});
    });
    ConnectionEnded();
    return;
  }
  auto* connection =
      new DownstreamConnection(io_, std::move(stream), origin,
                               ConnectionOptions(CallerOf(origin.listener->direction)), *this);
  connection->SetListener(snapshot_->ListenerRefOf(*origin.listener));
  connections_.PushBack(*connection);
  connection->LimitAge(io_, random_);
  if (closed_sockets_.contains(origin.socket) || leaving_.contains(origin.listener->direction)) {
    connection->session().AnnounceShutdown();
  }
  connection->Receive(first);
}

void Worker::OnHttp2(AcceptedConnection& from, net::ByteStream stream, ByteSpan first) {
  Serve(from.origin(), std::move(stream), first);
  Bury(from);
}

void Worker::OnLateHttp2(RawTunnel& from, net::ByteStream stream, ByteSpan first) {
  Serve(from.origin(), std::move(stream), first);
  Bury(from);
}

void Worker::OnTunnel(AcceptedConnection& from, net::ByteStream stream, ByteSpan first) {
  const std::string& original = from.origin().original;
  if (!original.empty() && shared_.capture_loops.Has(stream.peer(), original)) {
    shared_.capture_loops.Tell(from.origin(), loop_.now());
    OnNotTaken(from, Reject::kLoop);
    return;
  }
  tunnels_.PushBack(
      *new RawTunnel(tunnel_environment_, std::move(stream), first, from.origin(), *this));
  series_.tunnels.Add(1);
  Bury(from);
}

void Worker::OnNotTaken(AcceptedConnection& from, Reject reason) {
  series_.rejects[reason].Add();
  io_.log.Write(EventKind::kConnectionRefused,
                [&] { return FirstBytesFields(from, RejectName(reason)); });
  ConnectionEnded();
  Bury(from);
}

void Worker::OnGivenUp(AcceptedConnection& from, bool timeout) {
  if (timeout) series_.limit_hits[Limit::kHandshake].Add();
  io_.log.Write(EventKind::kConnectionClosed, [&] {
    return FirstBytesFields(from, timeout ? "it did not say in time what it carries"
                                          : "closed before it said what it carries");
  });
  ConnectionEnded();
  Bury(from);
}

void Worker::OnTunnelled(bool forward, size_t bytes) {
  (forward ? series_.tunnelled_sent : series_.tunnelled_received).Add(bytes);
}

void Worker::OnTunnelClosed(RawTunnel& tunnel, std::optional<TunnelFailure> failure) {
  if (failure.has_value()) series_.tunnel_failures[*failure].Add();
  io_.log.Write(EventKind::kConnectionClosed, [&] {
    return ConnectionFields(
        tunnel.origin(),
        {{"reason", failure.has_value() ? TunnelFailureName(*failure) : "closed"}});
  });
  ConnectionEnded();
  Bury(tunnel);
}

void Worker::OnDownstreamClosed(DownstreamConnection& connection, const std::string& reason) {
  io_.log.Write(EventKind::kConnectionClosed, [&] {
    return ConnectionFields(connection.origin(), {{"reason", reason}});
  });
  ConnectionEnded();
  static_cast<ListLink<DownstreamConnection>&>(connection).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&connection));
}

void Worker::OnProtocolError(DownstreamConnection& from, std::string_view what) {
  series_.rejects[Reject::kProtocolError].Add();
  io_.log.Write(EventKind::kProtocolError, [&] {
    return ConnectionFields(from.origin(), {{"reason", what}});
  });
}

void Worker::OnLimit(h2::SessionLimit limit) { series_.limit_hits[LimitOf(limit)].Add(); }
void Worker::OnFollows(RpcStream& rpc) { following_.Add(*rpc.followed(), rpc); }

void Worker::OnRpcFinished(RpcStream& rpc) {
  if (const auto trace = rpc.followed()) following_.Remove(*trace, rpc);
  static_cast<ListLink<RpcStream>&>(rpc).Unlink();
  io_.graveyard.Bury(std::unique_ptr<Mortal>(&rpc));
}

h2::StreamHandler* Worker::OnRequest(DownstreamConnection& from, h2::Stream& stream,
                                     Metadata& fields, bool end) {
  const RequestHead head = ReadRequestHead(fields);
  if (stream.oversized()) {
    series_.rejects[Reject::kMetadata].Add();
    return Refuse(from, stream, fields, StatusCode::kResourceExhausted,
                  "metadata is larger than limits.metadata_bytes or limits.metadata_fields");
  }
  if (head.method != "POST" || !IsGrpcContentType(head.content_type)) {
    series_.rejects[Reject::kNotGrpc].Add();
    ReplyNotGrpc(stream);
    return nullptr;
  }
  if (head.has_via && HasPassed(fields, shared_.hops.Of(from.listener().direction).via)) {
    series_.rejects[Reject::kLoop].Add();
    return Refuse(from, stream, fields, StatusCode::kUnimplemented,
                  shared_.capture_loops.OnCameBack(from.origin(), loop_.now()));
  }
  if (IsNotCaptured(from.origin())) {
    series_.rejects[Reject::kNotCaptured].Add();
    return Refuse(from, stream, fields, StatusCode::kUnimplemented, kNotRedirected);
  }
  if (relief_.Refuses(from)) {
    series_.limit_hits[Limit::kMemory].Add();
    return Refuse(from, stream, fields, StatusCode::kUnavailable, Call::kOutOfMemory);
  }
  const PlanKey key{.listener = from.listener(),
                    .address = AddressOf(from.origin(), head.authority),
                    .path = head.path,
                    .peer = snapshot_->routes.tells_peers_apart()
                                ? std::string_view(from.origin().identity)
                                : std::string_view()};
  std::shared_ptr<CallPlan> plan = plans_.Find(key);
  if (plan == nullptr) {
    auto made = FindPlan(key, fields, from.origin());
    if (!made.ok()) return RefuseUnplanned(from, stream, fields, made.status());
    plan = *std::move(made);
  }
  plan->destination->last_used = loop_.now();
  if (plan->inbound && doors_.TurnsAway(*plan, from.origin(), stream, fields)) return nullptr;
  calls_begun_.Add();
  auto* rpc = new RpcStream(environment_, *this, std::move(plan), from.origin(), stream, fields);
  calls_.PushBack(*rpc);
  rpc->Start(head.facts, from.unreported(), end);
  return rpc->answered() ? nullptr : rpc;
}

h2::StreamHandler* Worker::Refuse(DownstreamConnection& from, h2::Stream& stream,
                                  const Metadata& head, StatusCode code,
                                  const std::string& message) {
  CallRecord record;
  record.start = record.end = loop_.now();
  record.code = code;
  RecordCall(unrouted_method_, unrouted_upstream_, series_, record);
  io_.log.Write(EventKind::kRequestRefused, [&] {
    return ConnectionFields(from.origin(), {{"code", StatusCodeName(code)}, {"reason", message}});
  });
  log_.WriteRefused(snapshot_->access_log.filter, from.origin(), head, kNoUpstream, message,
                    record);
  ReplyTrailersOnly(stream, AnswerContentType(head.Get("content-type")), code, message);
  return nullptr;
}

void Worker::Goaway(Direction direction) {
  leaving_.insert(direction);
  connections_.ForEach([direction](DownstreamConnection& connection) {
    if (connection.origin().listener->direction != direction) return;
    connection.session().AnnounceShutdown();
  });
}

void Worker::Stop() {
  stopping_ = true;
  calls_.ForEach([](RpcStream& rpc) { rpc.EndForDrain(); });
  // Frames for the callers leave before their connections are closed.
  connections_.ForEach([](DownstreamConnection& connection) { connection.session().Shutdown(); });
  io_.Flush();
  connections_.ForEach(
      [](DownstreamConnection& connection) { connection.Close("the sidecar is stopping"); });
  accepted_.ForEach([](AcceptedConnection& connection) { connection.Close(); });
  tunnels_.ForEach([](RawTunnel& tunnel) { tunnel.Close(); });
  destinations_.Close();
}

}  // namespace levee
