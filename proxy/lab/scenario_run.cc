// SPDX-License-Identifier: Apache-2.0
#include "lab/scenario_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "guard/guard_line.h"
#include "lab/peer_retries.h"
#include "lab/service_instance.h"
#include "sim/app_loop.h"
#include "sim/services.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"

namespace levee {
namespace {

// Requests that have no answer so long after the last one began count as failed.
constexpr absl::Duration kLongestRest = absl::Seconds(60);

StatusCodeSet AllFailures() {
  StatusCodeSet all;
  for (int code = 1; code < kStatusCodes; ++code) all.Add(static_cast<StatusCode>(code));
  return all;
}

class Run {
 public:
  Run(const Scenario& scenario, CallerRule rule, uint64_t seed)
      : scenario_(scenario),
        rule_(rule),
        seeds_(seed),
        record_(scenario),
        callers_(scenario.services.size()) {
    for (const ScenarioService& service : scenario.services) {
      auto& instances = services_.emplace_back();
      for (int i = 0; i < service.instances; ++i) {
        instances.push_back(std::make_unique<ServiceInstance>(clock_, service, seeds_.Next()));
      }
    }
    for (size_t i = 0; i < services_.size(); ++i) Connect(i);
    for (const ScenarioClient& client : scenario.clients) AddClient(client);
  }

  RunRecord Result() {
    for (size_t i = 0; i < scenario_.services.size(); ++i) ScheduleFaults(i);
    for (size_t i = 0; i < clients_.size(); ++i) ScheduleLoad(i);
    for (absl::Duration at; at < scenario_.duration; at += absl::Seconds(1)) {
      clock_.RunFor(std::min(absl::Seconds(1), scenario_.duration - at));
      record_.Queue(Waiting(), at);
    }
    for (absl::Duration rest; open_ > 0 && rest < kLongestRest; rest += absl::Seconds(1)) {
      clock_.RunFor(absl::Seconds(1));
    }
    for (const Shadowed& each : shadowed_) {
      record_.Shadow({.caller = each.caller,
                      .policy = each.sidecar->policy.name,
                      .shadow = each.sidecar->shadow->name,
                      .calls = each.sidecar->tally().shadow});
    }
    return std::move(record_);
  }

 private:
  struct Client {
    std::vector<FurtherCall> callers;  // one for each instance
    Random random;
    int64_t arrivals_due = 0;  // the number of the event that brings the next request
    size_t next = 0;           // the instance of the next request, if they take turns
  };

  // A sidecar with a shadow policy.
  struct Shadowed {
    std::string caller;
    const SimSidecar* sidecar;
  };

  int64_t Waiting();
  SimSidecar& Sidecar(const std::string& caller, const ScenarioCall& call);
  Service Entry(const ScenarioCall& call, ServiceInstance& instance, SimSidecar& caller);
  SimSidecar& Inbound(const ScenarioCall& call, ServiceInstance& instance);
  AppLoop Loop(int own_retries, bool shares_deadline);
  void Connect(size_t service);
  void AddClient(const ScenarioClient& client);
  void ScheduleFaults(size_t service);
  void ApplyFaults(size_t service, absl::Duration at);
  void ScheduleLoad(size_t client);
  void ScheduleRequest(size_t client);
  void Request(size_t client);

  const Scenario& scenario_;
  const CallerRule rule_;
  Random seeds_;  // of everything else that is random
  SimClock clock_;
  RunRecord record_;
  std::vector<std::vector<std::unique_ptr<ServiceInstance>>> services_;
  std::deque<SimSidecar> sidecars_;
  std::vector<std::vector<SimSidecar*>> callers_;  // of each service
  std::vector<Shadowed> shadowed_;
  std::map<std::pair<ServiceInstance*, const CallPolicy*>, SimSidecar*> inbound_;
  std::deque<PeerRetries> peers_;
  std::deque<Client> clients_;
  uint64_t traces_ = 0;
  int64_t open_ = 0;  // requests without an answer
};

int64_t Run::Waiting() {
  int64_t waiting = 0;
  for (const auto& instances : services_) {
    for (const auto& instance : instances) waiting += instance->waiting();
  }
  for (const auto& [of, inbound] : inbound_) {
    GuardLine* const guard = inbound->guard();
    if (guard != nullptr) waiting += guard->guard().View(clock_.now()).waiting;
  }
  return waiting;
}

// Returns a new sidecar of one instance of the caller, through which it makes the call.
SimSidecar& Run::Sidecar(const std::string& caller, const ScenarioCall& call) {
  const bool none = call.sidecar == nullptr || rule_ != CallerRule::kThis;
  SimSidecar& sidecar =
      sidecars_.emplace_back(clock_, none ? WithoutSidecar() : *call.policy, seeds_.Next());
  if (none) {
    sidecar.endpoints().TakeTurns();
  } else {
    sidecar.policy.timeout = std::min(sidecar.policy.timeout, call.timeout);
    sidecar.overload = call.sidecar->overload;
    sidecar.idempotent = call.idempotent;
    sidecar.described = call.described;
    sidecar.replay_bytes = call.sidecar->limits.replay_bytes;
    sidecar.waiting_calls = call.sidecar->limits.waiting_calls;
    sidecar.connect_wait = call.connect_wait;
    if (call.shadow != nullptr) {
      sidecar.shadow = *call.shadow;
      shadowed_.push_back({caller, &sidecar});
    }
  }
  const auto service = static_cast<size_t>(call.service);
  sidecar.name = scenario_.services[service].name;
  callers_[service].push_back(&sidecar);
  for (const std::unique_ptr<ServiceInstance>& instance : services_[service]) {
    sidecar.AddEndpoint(
        [this, service, to = instance.get(), enter = Entry(call, *instance, sidecar)](
            SimHost& host, AttemptId attempt) {
          record_.Attempt(service, clock_.elapsed());
          const std::optional<Answer> lost = to->Unreachable();
          return lost.has_value() ? *lost : enter(host, attempt);
        });
  }
  return sidecar;
}

// Returns what a call meets first at the instance.
Service Run::Entry(const ScenarioCall& call, ServiceInstance& instance, SimSidecar& caller) {
  if (call.inbound == nullptr || rule_ != CallerRule::kThis) {
    return [&instance](SimHost& host, AttemptId id) { return instance.Serve(host, id); };
  }
  SimSidecar& inbound = Inbound(call, instance);
  GuardLine* const guard = inbound.guard();
  if (guard == nullptr) return Behind(inbound, caller, 0);
  const int method = guard->guard().NameMethod(call.method);
  inbound.DescribeMethod(method, call.inbound_described);
  return Behind(inbound, caller, method);
}

// Returns the sidecar before the instance, which all calls of the policy share.
SimSidecar& Run::Inbound(const ScenarioCall& call, ServiceInstance& instance) {
  SimSidecar*& inbound = inbound_[{&instance, call.inbound_policy}];
  if (inbound == nullptr) {
    inbound = &sidecars_.emplace_back(clock_, *call.inbound_policy, seeds_.Next());
    inbound->inbound = true;
    inbound->overload = call.inbound->overload;
    inbound->AddEndpoint(
        [&instance](SimHost& host, AttemptId id) { return instance.Serve(host, id); });
  }
  return *inbound;
}

// Returns the loop of a new caller.
AppLoop Run::Loop(int own_retries, bool shares_deadline) {
  if (const PeerRule* const rule = PeerRuleOf(rule_)) {
    PeerRetries& peer = peers_.emplace_back(*rule, seeds_.Next());
    return {.shares_deadline = shares_deadline || rule->shares_deadline,
            .again = [&peer](LoopProgress& request, StatusCode code) {
              return peer.OnEnd(request, code);
            }};
  }
  return {.attempts = 1 + RetriesUnder(rule_, own_retries),
          .codes = AllFailures(),
          .backoff = absl::ZeroDuration(),
          .shares_deadline = shares_deadline};
}

void Run::Connect(size_t service) {
  const ScenarioService& described = scenario_.services[service];
  for (const std::unique_ptr<ServiceInstance>& instance : services_[service]) {
    for (const ScenarioCall& call : described.calls) {
      instance->AddCall(
          {&Sidecar(described.name, call), Loop(described.retries, /*shares_deadline=*/true)});
    }
  }
}

void Run::AddClient(const ScenarioClient& client) {
  Client& added = clients_.emplace_back(Client{{}, Random(seeds_.Next())});
  for (int i = 0; i < client.instances; ++i) {
    SimSidecar& sidecar = Sidecar(client.name, client.call);
    sidecar.answers_are_read = false;  // A request wants to know the code.
    added.callers.push_back({&sidecar, Loop(client.retries, false)});
  }
}

void Run::ScheduleFaults(size_t service) {
  for (const ScenarioFault& fault : scenario_.faults) {
    if (fault.service != static_cast<int>(service)) continue;
    for (const absl::Duration at : {fault.at, fault.at + fault.span}) {
      clock_.At(SimClock::Start() + at, [this, service, at] { ApplyFaults(service, at); });
    }
  }
}

// Gives the instances of the service the faults that they have from `at` on.
void Run::ApplyFaults(size_t service, absl::Duration at) {
  for (size_t i = 0; i < services_[service].size(); ++i) {
    std::vector<const ScenarioFault*> active;
    for (const ScenarioFault& fault : scenario_.faults) {
      if (fault.service != static_cast<int>(service)) continue;
      if (fault.instance.value_or(static_cast<int>(i)) != static_cast<int>(i)) continue;
      if (fault.at <= at && at < fault.at + fault.span) active.push_back(&fault);
    }
    ServiceInstance& instance = *services_[service][i];
    const bool was_down = instance.down();
    instance.SetFaults(std::move(active));
    if (instance.down() == was_down) continue;
    for (SimSidecar* const caller : callers_[service]) {
      caller->endpoints().SetReachable(static_cast<int64_t>(i), was_down);
    }
  }
}

// The rate changes at the ends of steps: there the next request is drawn anew.
void Run::ScheduleLoad(size_t client) {
  ScheduleRequest(client);
  for (const ScenarioStep& step : scenario_.clients[client].steps) {
    for (const absl::Duration at : {step.at, step.at + step.span}) {
      clock_.At(SimClock::Start() + at, [this, client] { ScheduleRequest(client); });
    }
  }
}

void Run::ScheduleRequest(size_t client) {
  Client& from = clients_[client];
  const int64_t number = ++from.arrivals_due;
  const ScenarioClient& described = scenario_.clients[client];
  const double rate = described.RateAt(clock_.elapsed());
  if (rate <= 0) return;
  const double gaps = described.poisson ? -std::log1p(-from.random.Uniform()) : 1;
  const absl::Duration gap = absl::Seconds(gaps / rate);
  if (clock_.elapsed() + gap >= scenario_.duration) return;
  clock_.After(gap, [this, client, number] {
    if (number != clients_[client].arrivals_due) return;
    ScheduleRequest(client);
    Request(client);
  });
}

void Run::Request(size_t client) {
  Client& from = clients_[client];
  const size_t count = from.callers.size();
  const size_t instance = scenario_.clients[client].poisson
                              ? static_cast<size_t>(from.random.Below(count))
                              : from.next++ % count;
  const absl::Duration begun = clock_.elapsed();
  record_.Begin(client, begun);
  ++open_;
  const FurtherCall& caller = from.callers[instance];
  AppRequest::Begin(*caller.sidecar, caller.loop, scenario_.clients[client].deadline,
                    {.trace = ++traces_}, "request", [this, client, begun](const SimCaller& end) {
                      --open_;
                      if (end.code == StatusCode::kOk) record_.Ok(client, begun, clock_.elapsed());
                    });
}

}  // namespace

RunRecord RunScenario(const Scenario& scenario, CallerRule rule, uint64_t seed) {
  return Run(scenario, rule, seed).Result();
}

}  // namespace levee
