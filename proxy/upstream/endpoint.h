// SPDX-License-Identifier: Apache-2.0
// One endpoint of an upstream as one worker sees it: its address, connections and state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/graveyard.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "log/conditions.h"
#include "net/address.h"
#include "policy/endpoint_set.h"
#include "policy/reconnect.h"
#include "telemetry/series.h"
#include "upstream/endpoint_view.h"
#include "upstream/upstream_connection.h"

namespace levee {

class Pool;

// Where an endpoint is.
struct EndpointPlace {
  std::string name;  // as people read it: "10.0.0.7:50051"
  // The host name that has led to the addresses, which is also what TLS would demand of the peer's
  // certificate; empty: the configuration or the call gives an IP address or a path.
  std::string host;
  std::vector<net::Address> addresses;  // the next one is tried if one cannot be reached
};

// Keeps at least one connection after the first Connect, and connects again as Reconnect says.
// Tells its pool of its events. One thread. Above 30 functions: its connections and its attempts to
// connect again are not parted yet. Above 20 data members: for the same reason.
class Endpoint final : public Mortal, private Timer {
 public:
  // `place`: with at least one address. All references must outlive the endpoint. The pool must not
  // destroy the endpoint from within one of its events. Above 6 parameters: the references are to
  // objects of the worker that an endpoint uses.
  Endpoint(WorkerIo& io, const ConnectPolicy& policy, Random& random, UpstreamSeries& series,
           Pool& pool, int64_t id, EndpointPlace place);
  ~Endpoint() override;

  enum class State { kIdle, kConnecting, kReady, kFailing, kSelf };
  State state() const { return state_; }
  EndpointCondition condition() const;

  int64_t id() const { return id_; }
  const std::string& name() const { return place_.name; }

  // Starts connecting, unless it is connected, connecting, or waiting to try again.
  void Connect();

  // Calls wait for an endpoint: if this one waits to try again, it tries no later than calls may
  // expect, which may be now.
  void Hasten();

  // Whether calls may wait for the attempt to connect that is under way although the endpoint
  // fails: the attempt before it failed quickly.
  bool promising() const { return dialling_ && failed_quickly_; }

  // Opens one more connection beside the ready ones, for more streams than they allow. Returns
  // whether one is being dialled afterwards.
  bool ConnectAnother();

  // Returns the ready connection with the fewest streams that has a free slot; nullptr if there is
  // none.
  UpstreamConnection* FindSlot();

  // Sets whether metrics show the endpoint as ejected instead of connecting or ready.
  void SetEjected(bool ejected);

  // Returns the endpoint's view, without the fields it does not know: upstream, authority, latency.
  EndpointView View() const;

  // Why the endpoint fails: "connection refused".
  const std::string& failure() const { return failure_; }

  // From now on the endpoint is connected only while streams run on it or Connect asks for it.
  void ConnectOnlyOnDemand();

  // Closes the connections that no stream uses, and forgets a failure. Only after
  // ConnectOnlyOnDemand.
  void CloseUnused();

  // Streams that run may finish. The endpoint is not counted any more and does not connect again.
  void Drain();

  // Closes every connection. The endpoint does not connect again.
  void Close();

  // The following are the events of the endpoint's connections. Nobody else calls them.
  //
  // The connection can carry streams now.
  void OnReady(UpstreamConnection& connection);

  // A stream ended, or the peer changed its limit.
  void OnSlotsChanged(UpstreamConnection& connection);

  // The peer wants no new streams. `too_many_pings`: because of keepalive.
  void OnDraining(UpstreamConnection& connection, bool too_many_pings);

  // A connection is older than it may be.
  void OnAged();

  // The peer's kernel has become silent on a connection, or answers again.
  void OnSilence();

  // The peer broke HTTP/2, on one stream or for the whole connection.
  void OnProtocolError(std::string_view what);

  // The connection is closed. It is destroyed at the end of the turn.
  void OnClosed(UpstreamConnection& connection, const std::string& reason);

 private:
  void OnTimer(Instant now) override;

  void StartConnecting();
  void Dial();
  void DrainOneAged();
  void Replace(const UpstreamConnection& lost, const std::string& reason);
  void ConnectFailed(const std::string& reason);
  void WaitToReconnect();
  bool HasReady() const;
  bool IsSilent(PeerSilence::State least) const;
  void ReportChange();
  void SetState(State state);
  void ReportState();
  void Tell(EventKind kind, std::string_view field, std::string_view value);
  std::optional<EndpointState> shown() const;
  void Count();

  WorkerIo& io_;
  const ConnectPolicy& policy_;
  Random& random_;
  UpstreamSeries& series_;
  Pool& pool_;
  const int64_t id_;
  const EndpointPlace place_;

  State state_ = State::kIdle;
  std::optional<EndpointState> counted_;  // as metrics have it
  bool ejected_ = false;
  bool silent_ = false;    // the peer's kernel answers on no connection
  bool dialling_ = false;  // a connection attempt is under way
  bool closing_ = false;
  bool draining_ = false;
  bool on_demand_ = false;
  bool crowded_ = false;  // all connections are full, there may be no more, and that is counted
  bool failed_quickly_ = false;  // when it was last dialled
  std::string failure_;
  std::string failure_of_accepted_;  // of this round: an address that accepted tells most
  Condition unreachable_{ConditionKind::kUnreachable};
  Condition ejection_{ConditionKind::kEjected};
  Reconnect reconnect_;
  Instant dialled_at_;
  absl::Duration keepalive_interval_;
  size_t next_address_ = 0;  // of this round of attempts
  std::vector<std::unique_ptr<UpstreamConnection>> connections_;
};

}  // namespace levee
