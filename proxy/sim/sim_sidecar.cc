// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_sidecar.h"

#include <utility>

namespace levee {

SimSidecar::SimSidecar(SimClock& clock, const CallPolicy& call_policy, uint64_t seed)
    : policy(call_policy), clock_(clock), random_(seed), endpoints_(clock, ~seed) {}

SimHost& SimSidecar::NewCall(const RequestFacts& facts, SimHost::OnFinish on_finish,
                             SimOrigin origin) {
  SimHost* host;
  if (idle_.empty()) {
    host = &hosts_.emplace_back(*this);
  } else {
    host = idle_.back();
    idle_.pop_back();
  }
  host->Start(facts, std::move(on_finish), origin);
  return *host;
}

SimHost& SimSidecar::Unary(const RequestFacts& facts, std::string_view request) {
  SimHost& call = NewCall(facts);
  call.Send(request, /*end=*/true);
  return call;
}

const PlannedFeatures& SimSidecar::Features() {
  if (features_.has_value()) return *features_;
  const auto soon = [this](auto look) { clock_.After(absl::ZeroDuration(), std::move(look)); };
  tables_ = std::make_unique<PolicyTables>(PolicyTables::Parts{
      .wake_for_guards = [this, soon](int) { soon([this] { guard_->Look(clock_.now()); }); },
      .wake_for_keys =
          [this, soon](int worker) {
            soon([this, worker] { tables_->dedupes.Answer(worker, clock_.now()); });
          },
      .guard_rule =
          [this](const ConcurrencyPolicy& concurrency) {
            return limit_rule == nullptr ? RuleOf(concurrency) : std::move(limit_rule);
          },
      .leases = leases});
  features_.emplace(*tables_,
                    RoutePolicies{.policy = policy,
                                  .shadow = shadow.has_value() ? &*shadow : nullptr,
                                  .described = idempotent,
                                  .seed = 1},
                    PlannedFor{name, /*authority=*/"", clock_.now()});
  return *features_;
}

GuardLine* SimSidecar::guard() {
  const std::shared_ptr<Guard>& guard = Features().guard.guard;
  if (guard_ == nullptr && guard != nullptr) {
    guard_ = std::make_unique<GuardLine>(guard, 0, [this](Instant when) {
      clock_.At(when, [this] { guard_->Look(clock_.now()); });
    });
  }
  return guard_.get();
}

ReplayLease& SimSidecar::replay() {
  if (lease_ == nullptr) {
    memory_ = std::make_unique<ReplayMemory>(replay_bytes);
    lease_ = std::make_unique<ReplayLease>(*memory_);
  }
  return *lease_;
}

void SimSidecar::DescribeMethod(int number, std::optional<CallKind> kind) {
  std::optional<SimMethod>& place = MethodPlace(number);
  if (kind.has_value() && !place.has_value()) place.emplace(*kind);
}

std::optional<SimSidecar::SimMethod>& SimSidecar::MethodPlace(int number) {
  const auto index = static_cast<size_t>(number);
  if (index >= methods_.size()) methods_.resize(index + 1);
  return methods_[index];
}

SimSidecar::SimMethod& SimSidecar::Method(int number) {
  std::optional<SimMethod>& place = MethodPlace(number);
  if (place.has_value()) return *place;
  return described.has_value() ? place.emplace(*described) : place.emplace();
}

CallParts SimSidecar::Parts(CallHost& host, const SimOrigin& origin) {
  SimMethod& method = Method(origin.method);
  if (!method.parts.has_value()) MakePlanParts(method);
  return {.host = host,
          .plan = *method.parts,
          .method = method.kind,
          .sender = static_cast<uint64_t>(origin.caller),
          .guard_method = origin.method};
}

void SimSidecar::MakePlanParts(SimMethod& method) {
  const PlannedFeatures& features = Features();
  if (!waiting_.has_value()) {
    places_.emplace(waiting_calls);
    if (connect_wait > absl::ZeroDuration()) {
      connect_line_.emplace(clock_, endpoints_, *places_, connect_wait);
    }
    waiting_.emplace(features.budget.budget, /*worker=*/0, *places_, [this] {
      clock_.After(absl::ZeroDuration(), [this] { waiting_->Tell(clock_.now()); });
    });
  }
  CallPlanParts& parts =
      method.parts.emplace(CallPlanParts{.policy = *features.calls.policy,
                                         .overload = overload,
                                         .budget = *features.budget.budget,
                                         .latency = latency_,
                                         .failed_calls = failed_calls_,
                                         .usual_answer = method.usual_answer,
                                         .worker = 0,
                                         .random = random_,
                                         .replay = replay(),
                                         .upstream = name,
                                         .idempotent = features.calls.idempotent,
                                         .hedge = features.calls.hedge,
                                         .admission = admission,
                                         .retries = inbound ? nullptr : &retries_,
                                         .waiting = &*waiting_,
                                         .inbound = inbound,
                                         .guard = guard()});
  features.ShowTo(parts);
}

void SimSidecar::CountCall(const CallRecord& record) {
  const bool ok = record.code == StatusCode::kOk;
  const bool failed = !record.attempts.empty() && record.attempts[0].code != StatusCode::kOk;
  ++tally_.calls;
  tally_.ok += ok;
  tally_.first_failed += failed;
  tally_.rescued += failed && ok;
  if (record.shadow.has_value()) ++tally_.shadow[static_cast<size_t>(*record.shadow)];
}

}  // namespace levee
