// SPDX-License-Identifier: Apache-2.0
// What the calls of one simulated sidecar share: policy, budget, replay memory, endpoints.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "call/planned_features.h"
#include "call/policy_tables.h"
#include "call/replay_memory.h"
#include "call/waiting_retries.h"
#include "guard/guard_line.h"
#include "guard/limit_rule.h"
#include "policy/failed_calls.h"
#include "policy/latency_estimate.h"
#include "policy/method_kind.h"
#include "policy/retry_policy.h"
#include "policy/usual_answer.h"
#include "sim/sim_clock.h"
#include "sim/sim_connect_line.h"
#include "sim/sim_endpoints.h"
#include "sim/sim_host.h"
#include "wire/refusal.h"

namespace levee {

// The results of those calls of a sidecar that have ended.
struct Tally {
  int64_t calls = 0;
  int64_t attempts = 0;  // started, those that never left excluded; also of calls under way
  int64_t ok = 0;
  int64_t first_failed = 0;                       // calls whose first attempt failed
  int64_t rescued = 0;                            // of these, calls that ended with OK
  std::array<int64_t, kShadowOutcomes> shadow{};  // calls by ShadowOutcome, if there is a shadow
  double PerCall() const { return static_cast<double>(attempts) / static_cast<double>(calls); }
  double RescuedShare() const {
    return static_cast<double>(rescued) / static_cast<double>(first_failed);
  }
};

// A host is used again once its call has ended, so memory is bounded by the calls that are under
// way at a time. Destroy it before the clock runs on, or after the clock. Above 20 data members: it
// is a sidecar and its worker in one, with the figures that a simulation reads.
class SimSidecar {
 public:
  SimSidecar(SimClock& clock, const CallPolicy& call_policy, uint64_t seed = 1);
  SimSidecar(const SimSidecar&) = delete;
  SimSidecar& operator=(const SimSidecar&) = delete;

  // To be changed before the first call only.
  CallPolicy policy;
  OverloadPolicy overload;
  bool idempotent = false;            // every method is described as idempotent
  std::optional<CallKind> described;  // the kind that every method has by its descriptor
  std::string name = "cart";
  int64_t replay_bytes = 16 << 20;
  int64_t waiting_calls = 1000;
  std::string connect_failure = "connection refused";  // where no endpoint can be reached
  absl::Duration connect_wait = absl::ZeroDuration();  // of the upstream
  AdmissionSource* admission = nullptr;   // as CallPlanParts::admission; outlives the sidecar
  LeaseSource* leases = nullptr;          // of the limits that are shared; outlives the sidecar
  bool answers_are_read = true;           // else an OnFinish sees no message and no trailers
  bool inbound = false;                   // it stands in front of the service
  std::unique_ptr<LimitRule> limit_rule;  // of the guard; nullptr: that of the policy
  std::optional<CallPolicy> shadow;       // that decides beside the policy
  // If set, it is asked where an attempt goes before the endpoints are; nullopt: they choose.
  std::function<std::optional<int64_t>(const SimHost&, AttemptId)> recorded_place;

  // The kind that a method has by its descriptor; nullopt: it has none. Before its first call.
  void DescribeMethod(int number, std::optional<CallKind> kind);

  // Keeps every call until the sidecar is destroyed, for those who look at what has ended. Before
  // the first call.
  void KeepCalls() { keeps_calls_ = true; }
  bool keeps_calls() const { return keeps_calls_; }
  const std::deque<SimHost>& calls() const { return hosts_; }  // all there were, if they are kept

  SimEndpoints& endpoints() { return endpoints_; }
  // nullptr if none waits for a connection.
  SimConnectLine* connect_line() { return connect_line_.has_value() ? &*connect_line_ : nullptr; }
  int64_t AddEndpoint(Service service, std::string endpoint = {}) {
    return endpoints_.Add(std::move(service), std::move(endpoint));
  }

  // Returns the number of a caller's connection, which no other has.
  uint64_t NewConnection() { return ++connections_; }

  // A call whose caller's half is open. The reference is good until the end of the turn in which
  // the call finishes, or for ever if calls are kept.
  SimHost& NewCall(const RequestFacts& facts = {}, SimHost::OnFinish on_finish = nullptr,
                   SimOrigin origin = {});
  // A call with its whole request.
  SimHost& Unary(const RequestFacts& facts = {}, std::string_view request = "ping");

  SimClock& clock() { return clock_; }
  RetryBudget& budget() { return *Features().budget.budget; }
  AdaptiveThrottle* throttle() { return Features().throttle.throttle.get(); }  // nullptr: none
  DedupeTable* dedupe() { return Features().dedupe.table.get(); }              // likewise
  GuardLine* guard();                                                          // likewise
  ReplayLease& replay();
  LatencyEstimate& latency() { return latency_; }
  UsualAnswer& usual_answer(int method) { return Method(method).usual_answer; }
  const RetryHistory& retries() const { return retries_; }
  const Tally& tally() const { return tally_; }

  // For SimHost.
  CallParts Parts(CallHost& host, const SimOrigin& origin);
  void CountAttempt() { ++tally_.attempts; }
  void UncountAttempt() { --tally_.attempts; }
  void CountCall(const CallRecord& record);
  void Reuse(SimHost& host) { idle_.push_back(&host); }

 private:
  struct SimMethod {
    SimMethod() = default;
    explicit SimMethod(CallKind described) : kind(described) {}

    MethodKind kind;
    UsualAnswer usual_answer;
    std::optional<CallPlanParts> parts;  // made with the first call
  };
  const PlannedFeatures& Features();
  std::optional<SimMethod>& MethodPlace(int number);
  SimMethod& Method(int number);
  void MakePlanParts(SimMethod& method);

  SimClock& clock_;
  Random random_;  // the calls': apart from the endpoints', so that a test's draws do not depend
                   // on them
  SimEndpoints endpoints_;
  std::unique_ptr<PolicyTables> tables_;
  std::optional<PlannedFeatures> features_;
  std::unique_ptr<GuardLine> guard_;
  std::deque<std::optional<SimMethod>> methods_;  // by their numbers
  LatencyEstimate latency_;
  RetryHistory retries_;
  FailedCallsRoom failed_calls_room_;
  FailedCalls failed_calls_{failed_calls_room_};
  std::optional<WaitingPlaces> places_;
  std::optional<SimConnectLine> connect_line_;
  std::optional<WaitingRetries> waiting_;
  std::unique_ptr<ReplayMemory> memory_;
  std::unique_ptr<ReplayLease> lease_;
  bool keeps_calls_ = false;
  uint64_t connections_ = 0;
  std::deque<SimHost> hosts_;
  std::vector<SimHost*> idle_;
  Tally tally_;
};

}  // namespace levee
