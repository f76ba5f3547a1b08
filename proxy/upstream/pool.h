// SPDX-License-Identifier: Apache-2.0
// The endpoints of one destination; gives out streams on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "base/intrusive_list.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "h2/stream.h"
#include "net/resolver.h"
#include "policy/connect_gate.h"
#include "policy/endpoint_set.h"
#include "policy/waiting_places.h"
#include "upstream/endpoint.h"
#include "upstream/endpoint_view.h"
#include "upstream/resolved_name.h"

namespace levee {

class Pool;

// An object that wants a stream. It waits in at most one pool.
class StreamUser : public h2::StreamHandler, public ListLink<StreamUser> {
 public:
  // The stream is open, on a connection to the pool's endpoint of that id: send the head. May be
  // called from within Pool::Open.
  virtual void OnOpened(UpstreamConnection& connection, h2::Stream& stream, int64_t endpoint) = 0;

  // No endpoint can be reached, and the user does not wait for one any longer, or too many users
  // wait; nothing was sent. Never called from within
  // Pool::Open. `to_self`: the only address is a listener of this sidecar.
  virtual void OnOpenFailed(const std::string& reason, bool to_self) = 0;

  // Stops waiting, if it waits.
  void Withdraw();

  // Gives back the place among the calls that wait although nothing can be reached, if it has one.
  void LeavePlace() {
    if (place != nullptr) std::exchange(place, nullptr)->Free();
  }

  // Until then it waits although nothing can be reached; set before it asks.
  Instant patient_until;

  // The facts that matter for the choice of its endpoint; set before it asks.
  NextCall call;

  // Kept by the pool: `avoid` and `waits_in` while the user waits, `forbidden` until it asks again.
  absl::InlinedVector<int64_t, 2> avoid;
  absl::InlinedVector<int64_t, 2> forbidden;
  Pool* waits_in = nullptr;
  WaitingPlaces* place = nullptr;  // while it waits so
  Instant held_since;              // with `place`

 protected:
  ~StreamUser() { Withdraw(); }
};

// One worker's connections to one destination. One thread. Above 30 functions: the targets and the
// line of those who wait are not parted yet. Above 20 data members: for the same reason.
class Pool final : private TurnTask, private Timer {
 public:
  // An IP address or a name with a port, or the path of a Unix socket. All addresses of a name are
  // endpoints; only localhost is one endpoint.
  struct Target {
    std::string host;
    uint16_t port = 0;
    std::string path;                    // if `host` is empty
    net::Asker asker = net::kKnownName;  // the caller's connection that named the host

    bool operator==(const Target&) const = default;
  };

  // All references must outlive the pool.
  Pool(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
       UpstreamSeries& series, const std::vector<Target>& targets);
  ~Pool() override;

  // Replaces the targets by these. A target that stays keeps its connections and what is known
  // about its latency and failures. Calls on a target that goes may finish. While there is no
  // target, every user that wants a stream fails.
  void SetTargets(const std::vector<Target>& targets);

  // From now on keeps only connections that a call uses. Calls may still be made.
  void ConnectOnlyOnDemand();

  // Gives `user` a stream on a ready connection, now or when there is one and this thread has not
  // used up the memory that it may have in the turn. An endpoint in `avoid`
  // is taken only if no other has a free stream, one in `forbidden` never.
  void Open(StreamUser& user, std::span<const int64_t> avoid, std::span<const int64_t> forbidden);

  Instant now() { return io_.loop.now(); }

  // The results of attempts, for the choice of the next endpoints. `endpoint`: the id from
  // OnOpened. Two calls for each attempt: its answer began, or it was given up without one; and it
  // ended, with success or not. `took`: how long it took until its answer began, if that says
  // something about the endpoint.
  void OnAnswer(int64_t endpoint);
  void OnGivenUp(int64_t endpoint, absl::Duration waited);
  void OnAttemptEnded(int64_t endpoint, bool success,
                      std::optional<absl::Duration> took = std::nullopt);

  // The endpoint has answered with a failure: it lives.
  void OnLife(int64_t endpoint);

  // The endpoint asks callers to stay away for `wait`.
  void OnWaitAskedFor(int64_t endpoint, absl::Duration wait) { set_.Yield(endpoint, wait, now()); }

  // A user that waited has withdrawn.
  void OnWithdrawn();

  // Whether an attempt could go to an endpoint other than `endpoint` and the forbidden ones.
  bool HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const;

  // Returns the number of endpoints, at least 1.
  int size() const;

  // Whether these are endpoints of an application (ConnectPolicy::watcher), and none of them takes
  // connections: each has failed, and not been reached since.
  bool refuses() const { return refuses_; }

  // Whether there has been a connection to any of its endpoints.
  bool reached() const { return reached_; }

  // Connects now, and not with the first call.
  void Connect();

  // Whether some endpoint is a listener of this sidecar.
  bool LeadsToSelf() const;

  // Returns every endpoint, and every name without an address; upstream and authority are not
  // filled.
  std::vector<EndpointView> View();

  // Returns "10.0.0.7:50051"; also for an endpoint that has left lately. Empty if it is unknown.
  std::string EndpointName(int64_t endpoint) const;

  // Returns up to kMaxUnready names of endpoints to which there is no connection that takes calls
  // now, and of hosts without an address, sorted.
  std::vector<std::string> UnreadyNames() const;
  static constexpr size_t kMaxUnready = 4;

  void Close();

  // The following are the events of the pool's endpoints and names. Nobody else calls them.
  //
  // The endpoint's condition may have changed: a connection became ready or was lost, a stream
  // ended, or the endpoint began to connect or to fail.
  void OnEndpointChanged(Endpoint& endpoint);

  // A connection that had served was lost, or takes no new calls. Until Reconnect::kReturn is over,
  // calls wait for an endpoint to come back, even if all of them fail.
  void OnProvenLost();

  // After Endpoint::Drain: the last connection is closed. The endpoint is destroyed at the end of
  // the turn.
  void OnEndpointDrained(Endpoint& endpoint);

  // `addresses`: the ones that the name has now; at least one.
  void OnResolved(ResolvedName& name, const std::vector<net::Address>& addresses);

  // A look-up has failed.
  void OnUnresolved(ResolvedName& name);

 private:
  struct Member {
    std::unique_ptr<Endpoint> endpoint;
    ResolvedName* name;  // it is an address of this name; nullptr: none
  };

  void OnTurnEnd() override;
  void OnTimer(Instant now) override;

  void AddTarget(const Target& target);
  void RemoveTarget(const Target& target);
  void AddEndpoint(EndpointPlace place, ResolvedName* name);
  void Retire(int64_t id);
  void RetireThose(absl::FunctionRef<bool(const Member&)> condition);
  void Update(const Endpoint& endpoint);
  bool TryOpen(StreamUser& user, std::span<const int64_t> avoid,
               std::span<const int64_t> forbidden);
  bool MayServe(std::span<const int64_t> forbidden) const;
  bool AnyReady() const;
  void LookAtReach();
  bool OnlySelf() const;
  bool Holds(StreamUser& user);
  int ActiveCalls() const;
  void ArmTimer();
  void Hasten();
  void TurnAway();
  void FailHopeless();
  void Serve();
  void FailOpen(StreamUser& user);
  void ConnectMore();
  void ShowEjections() {
    if (set_.changed()) ShowChanges();
  }
  void ShowChanges();
  std::string Failure() const;

  WorkerIo& io_;
  net::Resolver& resolver_;
  const ConnectPolicy& policy_;
  Random& random_;
  UpstreamSeries& series_;

  std::vector<Target> targets_;
  std::vector<std::unique_ptr<ResolvedName>> names_;
  EndpointSet set_;
  absl::flat_hash_map<int64_t, Member> members_;  // those in set_
  std::vector<std::unique_ptr<Endpoint>> draining_;
  std::deque<std::pair<int64_t, std::string>> left_;  // names of those that have left
  std::string connect_failure_;                       // the last one
  bool started_ = false;
  bool on_demand_ = false;
  bool refuses_ = false;
  bool reached_ = false;

  IntrusiveList<StreamUser> waiting_;
  IntrusiveList<StreamUser> turned_away_;        // too many waited; they are told at the turn's end
  size_t queued_ = 0;                            // in both
  bool lost_some_ = false;                       // users may wait for an endpoint that is gone
  Instant return_until_;                         // until then users wait for one to come back
  Instant hasty_until_;                          // until then names are asked in haste
  ConnectGate gate_;                             // behind a time in which nothing could be reached
  Instant patient_until_ = Instant::Infinite();  // the first patient_until of those held
};

}  // namespace levee
