// The endpoints of one destination, and who gets a stream on which of them.
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
#include "policy/endpoint_set.h"
#include "upstream/endpoint.h"
#include "upstream/endpoint_view.h"
#include "upstream/resolved_name.h"

namespace levee {

// Who wants a stream. Waits in at most one pool.
class StreamUser : public h2::StreamHandler, public ListLink<StreamUser> {
 public:
  // The stream is open, on the pool's endpoint of that id: send the head. May be called from
  // within Pool::Open.
  virtual void OnOpened(h2::Stream& stream, int64_t endpoint) = 0;

  // No endpoint can be reached, or too many wait; nothing was sent. Never called from within
  // Pool::Open. `to_self`: the only address is a listener of this sidecar.
  virtual void OnOpenFailed(const std::string& reason, bool to_self) = 0;

  // Withdraws the wish, if it waits.
  void Withdraw() {
    if (!linked()) return;
    Unlink();
    --*queue_size;
  }

  // Kept by the pool: `avoid` and its count of those that wait while the user waits, `forbidden`
  // until it asks again.
  absl::InlinedVector<int64_t, 2> avoid;
  absl::InlinedVector<int64_t, 2> forbidden;
  size_t* queue_size = nullptr;

 protected:
  ~StreamUser() { Withdraw(); }
};

// One worker's connections to one destination. One thread.
class Pool final : private EndpointOwner,
                   private ResolvedNameOwner,
                   private TurnTask,
                   private Timer {
 public:
  // An IP address or a name with a port, or the path of a Unix socket. All addresses of a name are
  // endpoints, but for localhost, which is one endpoint.
  struct Target {
    std::string host;
    uint16_t port = 0;
    std::string path;  // if `host` is empty

    bool operator==(const Target&) const = default;
  };

  // At least one target. All references must outlive the pool.
  Pool(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
       UpstreamSeries& series, const std::vector<Target>& targets);
  ~Pool() override;

  // Other targets, at least one, from now on. What is among them as before keeps its connections;
  // calls that run on what is not may finish.
  void SetTargets(const std::vector<Target>& targets);

  // Keeps no connection from now on that no call uses; calls may still be made.
  void Rest();

  // Gives `user` a stream on a ready connection, now or when there is one. Endpoints in `avoid`
  // are taken only if no other has a free stream, those in `forbidden` never.
  void Open(StreamUser& user, std::span<const int64_t> avoid, std::span<const int64_t> forbidden);

  Instant now() { return io_.loop.now(); }

  // How attempts fare, for the choice of those that follow. `endpoint`: as OnOpened said. Of each
  // attempt: its answer began, or it was given up without; and it ended, well or ill.
  void OnAnswer(int64_t endpoint, absl::Duration latency);
  void OnGivenUp(int64_t endpoint, absl::Duration waited);
  void OnAttemptEnded(int64_t endpoint, bool success);

  // Whether an attempt could go to another endpoint than this one and those that are forbidden.
  bool HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const;

  // Endpoints that there are now, at least 1.
  int size() const;

  // Whether some endpoint is a listener of this sidecar.
  bool LeadsToSelf() const;

  // Every endpoint, and every name that has no address yet; without upstream and authority.
  std::vector<EndpointView> View();

  // "10.0.0.7:50051"; also of an endpoint that has left lately. Empty if it is unknown.
  std::string EndpointName(int64_t endpoint) const;

  void Close();

 private:
  struct Member {
    std::unique_ptr<Endpoint> endpoint;
    ResolvedName* name;  // that it is an address of; nullptr: none
  };

  void OnEndpointChanged(Endpoint& endpoint) override;
  void OnEndpointDrained(Endpoint& endpoint) override;
  void OnResolved(ResolvedName& name, const std::vector<net::Address>& addresses) override;
  void OnUnresolved(ResolvedName& name) override;
  void OnTurnEnd() override;
  void OnTimer(Instant now) override;

  void AddTarget(const Target& target);
  void RemoveTarget(const Target& target);
  void AddEndpoint(std::string text, std::vector<net::Address> addresses, ResolvedName* name);
  void Retire(int64_t id);
  void RetireThose(absl::FunctionRef<bool(const Member&)> condition);
  void Update(const Endpoint& endpoint);
  bool TryOpen(StreamUser& user, std::span<const int64_t> avoid,
               std::span<const int64_t> forbidden);
  bool AnyUsable(std::span<const int64_t> forbidden) const;
  void TurnAway();
  void FailHopeless();
  void Serve();
  void FailOpen(StreamUser& user);
  void ConnectMore();
  void EndEjections();
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
  bool resting_ = false;

  IntrusiveList<StreamUser> waiting_;
  IntrusiveList<StreamUser> turned_away_;  // there were too many; told at the turn's end
  size_t queued_ = 0;                      // in both
  bool lost_some_ = false;                 // users may wait for what will not come
};

}  // namespace levee
