// Everything that one event loop serves: callers' connections, calls, upstream connections.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/intrusive_list.h"
#include "base/random.h"
#include "call/replay_memory.h"
#include "config/snapshot.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "server/budget_table.h"
#include "server/call_plan.h"
#include "server/downstream_connection.h"
#include "server/rate_limit_table.h"
#include "server/rpc_stream.h"
#include "telemetry/metrics.h"
#include "upstream/http2_connection.h"

namespace levee {

// What all workers share; each of it is safe to use from any thread.
struct Shared {
  Metrics& metrics;
  BudgetTable& budgets;
  RateLimitTable& rate_limits;
  ReplayMemory& replay;
  std::vector<net::Address> own_listeners;  // set before the workers run
};

// One thread per worker: the one that runs its loop. Only PostX functions are for others.
class Worker final : private net::TurnHandler, private DownstreamOwner, private RpcOwner {
 public:
  Worker(int index, std::shared_ptr<const Snapshot> snapshot, Shared& shared);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  net::EventLoop& loop() { return loop_; }
  TimerWheel& wheel() { return io_.wheel; }

  // Serves an accepted connection. Any thread.
  void PostConnection(int fd);

  // Asks callers to go elsewhere: GOAWAY in its graceful form, the final one a moment later.
  void PostGoaway();

  // Ends all calls with UNAVAILABLE, closes every connection, and stops the loop.
  void PostStop();

  // Any thread; what it was a moment ago.
  int64_t active_calls() const { return series_.active_calls.Read(); }
  int64_t connections() const { return series_.downstream_connections.Read(); }
  int64_t replay_bytes() const { return replay_.used(); }

 private:
  Instant OnTurnEnd(Instant now) override;

  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override;
  void OnProtocolError(std::string_view what) override;
  void OnDownstreamClosed(DownstreamConnection& connection) override;
  void OnRpcFinished(RpcStream& rpc) override;

  void Accept(int fd);
  void Goaway();
  void Stop();
  h2::StreamHandler* Refuse(h2::Stream& stream, StatusCode code, const std::string& message);
  absl::StatusOr<std::shared_ptr<CallPlan>> MakePlan(std::string_view authority,
                                                     std::string_view path);
  absl::StatusOr<std::shared_ptr<Destination>> FindDestination(const UpstreamSpec& upstream,
                                                               const CallPolicy& policy,
                                                               std::string_view authority);
  bool MakeRoomForDestination();
  PlannedLimits PlanLimits(const CallPolicy& policy);
  h2::Session::Options DownstreamOptions() const;
  const ConnectPolicy& ConnectPolicyOf(const UpstreamSpec& upstream);

  const int index_;
  const std::shared_ptr<const Snapshot> snapshot_;
  Shared& shared_;
  WorkerSeries& series_;
  MethodSeries& unrouted_method_;  // of calls that are refused before they have a route
  UpstreamSeries& unrouted_upstream_;
  net::EventLoop loop_;
  WorkerIo io_;
  net::Resolver resolver_;
  Random random_;
  ReplayLease replay_;
  RpcEnvironment environment_;
  bool stopping_ = false;

  std::map<std::string, ConnectPolicy> connect_policies_;
  std::map<std::string, std::shared_ptr<Destination>> destinations_;
  PlanCache plans_;
  IntrusiveList<DownstreamConnection> connections_;
  IntrusiveList<RpcStream> calls_;
};

}  // namespace levee
