// SPDX-License-Identifier: Apache-2.0
// The endpoints of a simulated destination, chosen by the production EndpointSet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/endpoint_set.h"
#include "sim/answer.h"
#include "sim/sim_clock.h"

namespace levee {

class SimHost;

// Serves an attempt that has reached an endpoint: returns the script that is played,
// or delivers to the host by other means and returns Silence().
using Service = std::function<Answer(SimHost& host, int attempt)>;

// The simulator's counterpart of upstream/pool.h: every endpoint that can be reached is connected
// and takes any number of calls. The clock's events refer to it.
class SimEndpoints {
 public:
  // `random`: of the choices.
  SimEndpoints(SimClock& clock, uint64_t seed) : clock_(clock), random_(seed) {}
  SimEndpoints(const SimEndpoints&) = delete;
  SimEndpoints& operator=(const SimEndpoints&) = delete;

  // Endpoints are numbered 0, 1, ..., and called so unless they have a name.
  int64_t Add(Service service, std::string name = {});

  // An endpoint that cannot be reached is passed over, as the connection pools do.
  void SetReachable(int64_t endpoint, bool reachable);

  // Whether any can be reached.
  bool AnyReachable() const;

  // `tell` is called whenever one becomes reachable or ceases to be.
  void OnReachabilityChanged(std::function<void()> tell) { tell_ = std::move(tell); }

  // Returns the calls that run on all of them.
  int active() const { return active_; }

  // The kernel of its host acknowledges nothing, or does so again.
  void SetSilent(int64_t endpoint, bool silent);

  // Endpoints are not ejected from now on, however they fail.
  void NeverEject() { ejects_ = false; }

  // Attempts go to one endpoint after the other from now on, however these fail, as those of a
  // client that balances by itself.
  void TakeTurns() {
    takes_turns_ = true;
    ejects_ = false;
  }

  std::string NameOf(int64_t endpoint) const;

  int size() const { return static_cast<int>(endpoints_.size()); }
  Answer Serve(int64_t endpoint, SimHost& host, int attempt) {
    return At(endpoint).service(host, attempt);
  }

  // As Pool::Open, but at once: the endpoint on which an attempt runs from now on, until Release.
  // nullopt: none can be reached.
  std::optional<int64_t> Open(std::span<const int64_t> avoid, std::span<const int64_t> forbidden,
                              NextCall call);
  // The same with the endpoint that a record has.
  int64_t OpenRecorded(int64_t endpoint);
  void Release(int64_t endpoint);

  // Returns who has been ejected, and who has returned, since this was last asked.
  std::vector<EndpointSet::Change> TakeEjections() { return set_.TakeChanges(); }

  // As the functions of Pool that have these names.
  bool HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const {
    return set_.HasOther(endpoint, forbidden);
  }
  void OnAnswer(int64_t endpoint) { set_.RecordLife(endpoint, clock_.now()); }
  void OnLife(int64_t endpoint) { set_.RecordLife(endpoint, clock_.now()); }
  void OnGivenUp(int64_t endpoint, absl::Duration waited) {
    set_.RecordGivenUp(endpoint, waited, clock_.now());
  }
  void OnAttemptEnded(int64_t endpoint, bool success, std::optional<absl::Duration> took);
  void OnWaitAskedFor(int64_t endpoint, absl::Duration wait) {
    set_.Yield(endpoint, wait, clock_.now());
  }

 private:
  struct Endpoint {
    Service service;
    std::string name;
    bool reachable = true;
    bool silent = false;
    int active = 0;
  };

  Endpoint& At(int64_t endpoint) { return endpoints_.at(static_cast<size_t>(endpoint)); }
  void Connect();
  void Update(int64_t endpoint);
  std::optional<int64_t> NextInTurn();

  SimClock& clock_;
  Random random_;
  EndpointSet set_;
  std::vector<Endpoint> endpoints_;
  int active_ = 0;
  std::function<void()> tell_;
  bool ejects_ = true;
  bool takes_turns_ = false;
  std::optional<uint64_t> turn_;  // the endpoint that had the last one
  bool connected_ = false;        // as a pool connects when the first call comes
};

}  // namespace levee
