// SPDX-License-Identifier: Apache-2.0
// Everything that one event loop serves: callers' connections, calls, upstream connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/intrusive_list.h"
#include "base/random.h"
#include "call/lease_admission.h"
#include "call/policy_tables.h"
#include "call/replay_memory.h"
#include "conn/http2_connection.h"
#include "insight/tls_destinations.h"
#include "net/event_loop.h"
#include "net/line_writer.h"
#include "net/resolver.h"
#include "server/accepted_connection.h"
#include "server/application_doors.h"
#include "server/call_log.h"
#include "server/call_plan.h"
#include "server/capture_loops.h"
#include "server/destination_table.h"
#include "server/downstream_connection.h"
#include "server/following_calls.h"
#include "server/guard_lines.h"
#include "server/idle_watch.h"
#include "server/memory_relief.h"
#include "server/method_kinds.h"
#include "server/raw_tunnel.h"
#include "server/refusal_watch.h"
#include "server/rpc_stream.h"
#include "server/span_sink.h"
#include "server/ties.h"
#include "settings/peer_limits.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"

namespace levee {

// The objects that all workers share; each is safe to use from any thread.
struct Shared {
  Metrics& metrics;
  PolicyTables& tables;
  ReplayMemory& replay;
  MemoryAccount& memory;
  RecentCalls& recent_calls;
  TlsDestinations& tls_destinations;
  EventLog& log;
  MethodKinds& methods;
  Ties& ties;
  CaptureLoops& capture_loops;
  SpanSink& spans;
  // Called by worker 0, in its thread: the door of an inbound listener has opened or closed.
  std::function<void(const std::string& listener, bool open)> door_moved;
  const Hops hops;
};

// The values that a reload replaces, all at once.
struct WorkerConfig {
  std::shared_ptr<const Snapshot> snapshot;
  net::LineWriter* access_log = nullptr;  // nullptr: there is none; outlives the next reload
  std::vector<net::Address> own_listeners;
  std::vector<int> closed_sockets;  // whose connections are told to go (ConnectionOrigin::socket)
};

// One thread per worker: the one that runs its loop. Only PostX functions are for others. Above 30
// functions: connections, plans and the loop are not parted yet. Above 20 data members: for the
// same reason.
class Worker final : private net::TurnHandler {
  friend class VirtualWorker;  // of the tests, which break calls on purpose

 public:
  Worker(int index, std::shared_ptr<const Snapshot> snapshot, Shared& shared);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  net::EventLoop& loop() { return loop_; }
  TimerWheel& wheel() { return io_.wheel; }

  // The configuration that is in effect.
  const Snapshot& snapshot() const { return *snapshot_; }

  // Goes by another configuration from the next turn on; calls that are under way end by the one
  // they began with. Then calls `applied`, in the worker's thread. Any thread. The first one is due
  // before the first connection.
  void PostConfig(WorkerConfig config, std::function<void()> applied);

  // Neither calls nor tunnels are sent to these ports of the process from the next turn on, beside
  // its listeners: they are for its operators. Any thread.
  void PostControlPorts(std::vector<net::Address> ports);

  // Sends the calls of `upstream` to these endpoints from the next turn on. Plans, budgets and
  // calls that are under way stay as they are. An upstream has no endpoint before the first time,
  // so this comes before the configuration that brings the upstream. A configuration without the
  // upstream forgets its endpoints. Any thread.
  void PostEndpoints(const std::string& upstream, std::shared_ptr<const EndpointList> endpoints);

  // Looks at what guards have decided about waiting calls. Any thread.
  void PostLookAtGuards() {
    loop_.Post([this] { guards_.Look(loop_.now()); });
  }

  // Looks at what idempotency stores have decided about waiting calls. Any thread.
  void PostLookAtDedupes() {
    loop_.Post([this] { shared_.tables.dedupes.Answer(index_, loop_.now()); });
  }

  // Lets calls that wait for the lease of a rate limit ask again. Any thread.
  void PostLookAtLeases() {
    loop_.Post([this] { leases_.OnAnswered(loop_.now()); });
  }

  // Ends the calls that follow calls of a trace, if all callers of those have gone. Any thread.
  void PostGone(TraceNumber trace);

  // Serves a connection that was accepted; closes it if the worker does not run any more. With TLS
  // its handshake is over, and may have failed. Any thread.
  void PostConnection(net::ByteStream stream, ConnectionOrigin origin);

  // A connection that was accepted for this worker was refused, since too many handshakes of TLS
  // are under way. Any thread.
  void PostHandshakeRefused();

  // Calls `done` in the worker's thread with what there is to say about every endpoint. Any thread.
  void PostView(std::function<void(std::vector<EndpointView>)> done);

  // Counts the streams of callers, on which an answer may still be under way although its call has
  // ended. Any thread; open_streams() says what the last count found.
  void PostCountStreams();
  int64_t open_streams() const { return open_streams_.load(std::memory_order_relaxed); }

  // Asks the callers of the listeners of a direction to go elsewhere: GOAWAY in its graceful form,
  // the final one a moment later. It asks those that connect from now on, too.
  void PostGoaway(Direction direction);

  // Ends all calls with UNAVAILABLE, closes every connection, and stops the loop.
  void PostStop();

  // Any thread; what it was a moment ago.
  int64_t active_calls() const { return series_.active_calls.Read(); }
  // Whether the sidecar stands before an application, and that takes no connections.
  bool application_gone() const { return application_gone_.load(std::memory_order_relaxed); }
  int64_t active_streams() const { return series_.active_streams.Read(); }
  uint64_t calls_begun() const { return calls_begun_.Read(); }
  uint64_t connections_ended() const { return connections_ended_.Read(); }
  uint64_t tunnelled_bytes() const {
    return series_.tunnelled_sent.Read() + series_.tunnelled_received.Read();
  }
  int64_t replay_bytes() const { return replay_.used(); }

  // The following are the events of what the worker keeps: connections, tunnels and calls. Nobody
  // else calls them. An object whose last event has come is destroyed at the end of the turn.
  //
  // The caller speaks HTTP/2. `first`: the bytes that were read from the stream already. The last
  // event of `from`.
  void OnHttp2(AcceptedConnection& from, net::ByteStream stream, ByteSpan first);

  // The caller of a tunnel was silent for long, and speaks HTTP/2. `first`: as above. The last
  // event of `from`.
  void OnLateHttp2(RawTunnel& from, net::ByteStream stream, ByteSpan first);

  // Something else came, or nothing, on the way to the destination in from.origin().
  // `first`: as above. The last event of `from`.
  void OnTunnel(AcceptedConnection& from, net::ByteStream stream, ByteSpan first);

  // The caller said nothing that is taken here, and was told so. The last event of `from`.
  void OnNotTaken(AcceptedConnection& from, Reject reason);

  // The caller closed the connection, or took too long (`timeout`). The last event of `from`.
  void OnGivenUp(AcceptedConnection& from, bool timeout);

  // A tunnel passed bytes on. `forward`: to its destination.
  void OnTunnelled(bool forward, size_t bytes);

  // The tunnel is closed. `failure`: why it never reached its destination. Its last event.
  void OnTunnelClosed(RawTunnel& tunnel, std::optional<TunnelFailure> failure);

  // A request's head came. Returns the handler of the stream's further events; nullptr if nobody
  // wants them.
  h2::StreamHandler* OnRequest(DownstreamConnection& from, h2::Stream& stream, Metadata& head,
                               bool end);

  // The caller broke HTTP/2, on one stream or for the whole connection.
  void OnProtocolError(DownstreamConnection& from, std::string_view what);

  // The caller met a limit of its HTTP/2 session.
  void OnLimit(h2::SessionLimit limit);

  // The connection is closed. Its last event.
  void OnDownstreamClosed(DownstreamConnection& connection, const std::string& reason);

  // The call follows another one, and ends when the caller of that has gone.
  void OnFollows(RpcStream& rpc);

  // The call is finished. Its last event.
  void OnRpcFinished(RpcStream& rpc);

 private:
  Instant OnTurnEnd(Instant now) override;

  void Apply(const WorkerConfig& config);
  void SetOwnAddresses(std::vector<net::Address> listeners, std::vector<net::Address> ports);
  void Accept(net::ByteStream stream, ConnectionOrigin origin);
  bool IsOwn(std::string_view address) const;
  void Serve(const ConnectionOrigin& origin, net::ByteStream stream, ByteSpan first);
  void Bury(AcceptedConnection& connection);
  void Bury(RawTunnel& tunnel);
  void Goaway(Direction direction);
  void Stop();
  h2::StreamHandler* Refuse(DownstreamConnection& from, h2::Stream& stream, const Metadata& head,
                            StatusCode code, const std::string& message);
  h2::StreamHandler* RefuseUnplanned(DownstreamConnection& from, h2::Stream& stream,
                                     const Metadata& head, const absl::Status& why);
  absl::StatusOr<std::shared_ptr<CallPlan>> FindPlan(PlanKey key, const Metadata& head,
                                                     const ConnectionOrigin& origin);
  absl::StatusOr<std::shared_ptr<CallPlan>> MakePlan(const PlanKey& key, const Route& route,
                                                     int number, const std::string& routed_by,
                                                     const ConnectionOrigin& origin);
  Http2Connection::Options ConnectionOptions(Peer peer) const;
  void ConnectionEnded();

  const int index_;
  std::shared_ptr<const Snapshot> snapshot_;
  Shared& shared_;
  WorkerSeries& series_;
  MethodSeries& unrouted_method_;  // of calls that are refused before they have a route
  UpstreamSeries& unrouted_upstream_;
  net::EventLoop loop_;
  WorkerIo io_;
  net::Resolver resolver_;
  Random random_;
  ReplayLease replay_;
  WaitingPlaces waiting_places_;
  FailedCallsRoom failed_calls_;
  CallLog log_;
  RefusalWatch refusal_watch_;
  LeaseAdmission leases_;
  const TieEnvironment ties_;
  FollowingCalls following_;
  RpcEnvironment environment_;
  uint64_t connections_accepted_ = 0;
  Counter calls_begun_;
  Counter connections_ended_;
  bool stopping_ = false;
  std::atomic<int64_t> open_streams_ = 0;

  std::vector<net::Address> listeners_;
  std::vector<net::Address> control_ports_;
  std::vector<net::Address> own_addresses_;  // both
  std::set<int> closed_sockets_;             // since the start
  std::atomic<bool> application_gone_ = false;
  std::set<Direction> leaving_;  // whose callers are told to go elsewhere
  ApplicationDoors doors_;
  PlanCache plans_;
  DestinationTable destinations_;
  GuardLines guards_;
  IntrusiveList<AcceptedConnection> accepted_;
  IntrusiveList<DownstreamConnection> connections_;
  IntrusiveList<RawTunnel> tunnels_;
  const TunnelEnvironment tunnel_environment_;
  IntrusiveList<RpcStream> calls_;
  MemoryRelief relief_;
  IdleWatch idle_;
};

}  // namespace levee
