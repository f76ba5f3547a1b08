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

RetryBudget& SimSidecar::budget() {
  if (budget_ == nullptr) budget_ = std::make_shared<RetryBudget>(policy.retry.budget, 1);
  return *budget_;
}

AdaptiveThrottle* SimSidecar::throttle() {
  if (throttle_ == nullptr && policy.throttle.has_value()) {
    throttle_ = std::make_unique<AdaptiveThrottle>(*policy.throttle, 1);
  }
  return throttle_.get();
}

GuardLine* SimSidecar::guard() {
  if (guard_ == nullptr && policy.guard.has_value()) {
    if (limit_rule == nullptr) limit_rule = RuleOf(policy.guard->concurrency);
    auto guard = std::make_shared<Guard>(*policy.guard, 1, std::move(limit_rule));
    guard->SetWake(
        0, [this] { clock_.After(absl::ZeroDuration(), [this] { guard_->Look(clock_.now()); }); });
    guard_ = std::make_unique<GuardLine>(std::move(guard), 0, [this](Instant when) {
      clock_.At(when, [this] { guard_->Look(clock_.now()); });
    });
  }
  return guard_.get();
}

DedupeTable* SimSidecar::dedupe() {
  if (dedupe_ == nullptr && policy.dedupe.has_value()) {
    dedupe_ = std::make_unique<DedupeTable>(*policy.dedupe, 1, [this](int worker) {
      clock_.After(absl::ZeroDuration(), [this, worker] { dedupe_->Answer(worker, clock_.now()); });
    });
  }
  return dedupe_.get();
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
  if (!planned_.has_value()) {
    budget();
    places_.emplace(waiting_calls);
    if (connect_wait > absl::ZeroDuration()) {
      connect_line_.emplace(clock_, endpoints_, *places_, connect_wait);
    }
    waiting_.emplace(budget_, /*worker=*/0, *places_, [this] {
      clock_.After(absl::ZeroDuration(), [this] { waiting_->Tell(clock_.now()); });
    });
    planned_ = PlanCalls(policy, /*described=*/idempotent);
    if (shadow.has_value()) {
      shadow_ =
          ShadowPlan{.calls = PlanCalls(*shadow, /*described=*/idempotent),
                     .budget = std::make_shared<RetryBudget>(shadow->retry.budget, /*workers=*/1),
                     .random = Random(/*seed=*/1)};
    }
    for (const RateLimitPolicy& limit : policy.rate_limits) {
      limiters_.push_back(std::make_shared<RateLimiter>(limit, leases));
      limits_.push_back(limiters_.back().get());
    }
  }
  SimMethod& method = Method(origin.method);
  return {.host = host,
          .policy = *planned_->policy,
          .overload = overload,
          .budget = budget(),
          .latency = latency_,
          .failed_calls = failed_calls_,
          .method = method.kind,
          .usual_answer = method.usual_answer,
          .worker = 0,
          .random = random_,
          .replay = replay(),
          .sender = static_cast<uint64_t>(origin.caller),
          .upstream = name,
          .idempotent = planned_->idempotent,
          .hedge = planned_->hedge,
          .rate_limits = limits_,
          .admission = admission,
          .retries = inbound ? nullptr : &retries_,
          .waiting = &*waiting_,
          .throttle = throttle(),
          .inbound = inbound,
          .guard = guard(),
          .guard_method = origin.method,
          .dedupe = dedupe(),
          .shadow = shadow_.has_value() ? &*shadow_ : nullptr};
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
