// SPDX-License-Identifier: Apache-2.0
// The destinations that one worker knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/memory_account.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "call/policy_tables.h"
#include "conn/http2_connection.h"
#include "net/address.h"
#include "net/resolver.h"
#include "policy/waiting_places.h"
#include "server/call_plan.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"
#include "upstream/endpoint_view.h"
#include "upstream/upstream_connection.h"

namespace levee {

// The objects that destinations are made with; they outlive the table.
struct DestinationParts {
  WorkerIo& io;
  net::Resolver& resolver;
  Random& random;
  Metrics& metrics;
  FailedCallsRoom& failed_calls;
  WaitingPlaces& waiting;
  const std::vector<net::Address>& own_listeners;
  ApplicationWatcher& watcher;
  const MemoryAccount& memory;
  PlanCache& plans;  // of these destinations; those of one that goes are dropped
  PolicyTables& tables;
  int worker;
};

// Bounded by limits.destinations: beyond it some go, in EvictionOrder. Calls that run on one that
// has gone keep it until they end.
//
// A caller can make up authorities. So the destinations that calls have named take at most an
// eighth of the memory of the process, one without a call for kIdle goes, and as memory runs out
// they are given back. One thread.
class DestinationTable final : private Timer {
 public:
  // One takes so many bytes at most on one worker, with its budget and without its calls.
  static constexpr int64_t kBytes = 12 << 10;
  static constexpr absl::Duration kIdle = absl::Minutes(10);

  // Returns how many of `limit` destinations calls may name where the process may hold `memory`
  // bytes, on each of so many workers.
  static int MostNamed(int limit, int64_t memory, int workers) {
    return static_cast<int>(std::clamp<int64_t>(memory / 8 / kBytes / workers, 1, limit));
  }

  // `connection`: of those to endpoints. Nothing refers to `snapshot` afterwards.
  DestinationTable(const DestinationParts& parts, const Snapshot& snapshot,
                   const Http2Connection::Options& connection);

  // Another configuration. Destinations whose upstream connects as before stay, the others go, and
  // so do the endpoints of upstreams that it does not have.
  void Reload(const Snapshot& snapshot, const Http2Connection::Options& connection);

  // Other endpoints of one upstream, which a configuration that is still to come may have. The
  // upstream's destination stays (it is made if there is none), and so do connections to endpoints
  // that are among the new ones. An upstream has no endpoint before this has been called for it.
  // nullptr is not allowed.
  void SetEndpoints(const std::string& upstream, std::shared_ptr<const EndpointList> endpoints);

  // The sidecar listens elsewhere than before: whoever took one of its listeners for an endpoint
  // goes, so that the address is tried again.
  void ForgetLoops();

  // Returns the destination of calls of `upstream`, which is the snapshot's. `address`: to where an
  // upstream with `authority:` or `original:` connects; it is an error if that cannot be dialled.
  // `asker`: the caller's connection. `sender`: who the caller is (ConnectionOrigin::sender).
  absl::StatusOr<std::shared_ptr<Destination>> Find(const UpstreamSpec& upstream,
                                                    const CallAddress& address, net::Asker asker,
                                                    uint64_t sender);

  // Memory is short: drops all plans, and of the destinations that calls have named and that no
  // call uses the first ones in EvictionOrder, until so many bytes are given. Returns how many
  // were.
  int64_t GiveBack(int64_t bytes);

  // Returns a view of every endpoint.
  std::vector<EndpointView> View() const;

  // Whether the upstream's endpoints take no connections (Pool::refuses).
  bool Refuses(const std::string& upstream) const;

  // Closes every connection.
  void Close();

 private:
  using Destinations = std::map<std::pair<std::string, std::string>, std::shared_ptr<Destination>>;

  void OnTimer(Instant now) override;
  ConnectPolicy ConnectPolicyOf(const UpstreamSpec& upstream,
                                const Http2Connection::Options& connection) const;
  using UpstreamsByName = std::map<std::string, const UpstreamSpec*>;

  std::shared_ptr<Destination> Make(const std::string& upstream, const std::string& authority,
                                    const std::vector<Pool::Target>& targets);
  void MakeMissing();
  bool StillFits(const Destination& destination, const UpstreamsByName& upstreams) const;
  absl::StatusOr<std::vector<Pool::Target>> TargetsOf(const UpstreamSpec& upstream,
                                                      std::string_view authority,
                                                      net::Asker asker) const;
  void ForgetThose(absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition);
  void Forget(Destinations::iterator at);
  void ErasePlans();
  std::vector<Destinations::iterator> Where(
      absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition);
  std::vector<Destinations::iterator> FirstToGo(
      absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition);
  void MakeRoom(bool named);

  const DestinationParts parts_;
  size_t limit_ = 0;
  size_t most_named_ = 0;
  std::map<std::string, std::shared_ptr<ConnectPolicy>> connect_policies_;  // by upstream
  std::set<std::string> applications_;  // upstreams to which inbound listeners lead
  EndpointLists endpoints_;
  Destinations destinations_;
  size_t named_ = 0;  // of destinations_, by calls
};

}  // namespace levee
