// What the calls of one simulated sidecar share: policy, budget, replay memory, endpoints.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "call/replay_memory.h"
#include "policy/latency_estimate.h"
#include "policy/rate_limiter.h"
#include "policy/retry_budget.h"
#include "policy/retry_policy.h"
#include "sim_host/answer.h"
#include "sim_host/sim_clock.h"
#include "sim_host/sim_host.h"

namespace levee {

// What an endpoint does with an attempt that has reached it: returns the script that is played,
// or delivers to the host by other means and returns Silence().
using Service = std::function<Answer(SimHost& host, AttemptId id)>;

// Everything in it lives until it is destroyed, so that tests may look at calls that have ended.
// Destroy it before the clock runs on, or after the clock.
class SimSidecar {
 public:
  SimSidecar(SimClock& clock, const CallPolicy& call_policy, uint64_t seed = 1);
  SimSidecar(const SimSidecar&) = delete;
  SimSidecar& operator=(const SimSidecar&) = delete;

  // To be changed before the first call only.
  CallPolicy policy;
  OverloadPolicy overload;
  bool idempotent = false;  // every method is
  std::string name = "cart";
  int64_t replay_bytes = 16 << 20;

  // Endpoints are numbered 0, 1, ...
  int64_t AddEndpoint(Service service);
  // An unreachable endpoint is passed over, as the connection pools do.
  void SetReachable(int64_t endpoint, bool reachable);

  // A call whose caller's half is open.
  SimHost& NewCall(const RequestFacts& facts = {}, SimHost::OnFinish on_finish = nullptr);
  // A call with its whole request.
  SimHost& Unary(const RequestFacts& facts = {}, std::string_view request = "ping");

  SimClock& clock() { return clock_; }
  RetryBudget& budget();
  ReplayLease& replay();
  LatencyEstimate& latency() { return latency_; }
  const std::deque<SimHost>& calls() const { return calls_; }
  // Attempts started, those that never left excluded.
  int64_t attempts() const { return attempts_; }

  // For SimHost.
  CallParts Parts(CallHost& host);
  AttemptPlace Pick(std::span<const int64_t> avoid);
  Answer Serve(int64_t endpoint, SimHost& host, AttemptId id);
  void CountAttempt() { ++attempts_; }
  void UncountAttempt() { --attempts_; }

 private:
  struct Endpoint {
    Service service;
    bool reachable = true;
  };

  SimClock& clock_;
  Random random_;  // the calls'
  Random picks_;   // of endpoints: apart, so that a test's draws do not depend on them
  std::vector<Endpoint> endpoints_;
  std::unique_ptr<RetryBudget> budget_;
  std::optional<CallPolicy> hedged_;
  LatencyEstimate latency_;
  std::vector<std::unique_ptr<RateLimiter>> limiters_;
  std::vector<RateLimiter*> limits_;
  std::unique_ptr<ReplayMemory> memory_;
  std::unique_ptr<ReplayLease> lease_;
  std::deque<SimHost> calls_;
  int64_t attempts_ = 0;
};

}  // namespace levee
