#include "sim_host/sim_sidecar.h"

#include <algorithm>
#include <utility>

#include "policy/hedging.h"

namespace levee {

SimSidecar::SimSidecar(SimClock& clock, const CallPolicy& call_policy, uint64_t seed)
    : policy(call_policy), clock_(clock), random_(seed), picks_(~seed) {}

int64_t SimSidecar::AddEndpoint(Service service) {
  endpoints_.push_back({std::move(service)});
  return static_cast<int64_t>(endpoints_.size()) - 1;
}

void SimSidecar::SetReachable(int64_t endpoint, bool reachable) {
  endpoints_.at(static_cast<size_t>(endpoint)).reachable = reachable;
}

SimHost& SimSidecar::NewCall(const RequestFacts& facts, SimHost::OnFinish on_finish) {
  SimHost& call = calls_.emplace_back(*this, std::move(on_finish));
  call.Start(facts);
  return call;
}

SimHost& SimSidecar::Unary(const RequestFacts& facts, std::string_view request) {
  SimHost& call = NewCall(facts);
  call.Send(request, /*end=*/true);
  return call;
}

RetryBudget& SimSidecar::budget() {
  if (budget_ == nullptr) budget_ = std::make_unique<RetryBudget>(policy.retry.budget, 1);
  return *budget_;
}

ReplayLease& SimSidecar::replay() {
  if (lease_ == nullptr) {
    memory_ = std::make_unique<ReplayMemory>(replay_bytes);
    lease_ = std::make_unique<ReplayLease>(*memory_);
  }
  return *lease_;
}

CallParts SimSidecar::Parts(CallHost& host) {
  if (limiters_.empty()) {
    for (const RateLimitPolicy& limit : policy.rate_limits) {
      limiters_.push_back(std::make_unique<RateLimiter>(limit));
      limits_.push_back(limiters_.back().get());
    }
  }
  const bool repeatable = idempotent || policy.idempotency == IdempotencyMode::kAlways;
  const bool hedge = policy.hedge.has_value() && repeatable;
  if (hedge && !hedged_.has_value()) hedged_ = RetryPolicyOfHedging(policy);
  return {.host = host,
          .policy = hedge ? *hedged_ : policy,
          .overload = overload,
          .budget = budget(),
          .latency = latency_,
          .worker = 0,
          .random = random_,
          .replay = replay(),
          .upstream = name,
          .endpoints = static_cast<int>(endpoints_.size()),
          .idempotent = repeatable,
          .hedge = hedge ? &*policy.hedge : nullptr,
          .rate_limits = limits_};
}

AttemptPlace SimSidecar::Pick(std::span<const int64_t> avoid) {
  std::vector<int64_t> wanted;
  std::vector<int64_t> rest;
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    if (!endpoints_[i].reachable) continue;
    const auto endpoint = static_cast<int64_t>(i);
    const bool avoided = std::find(avoid.begin(), avoid.end(), endpoint) != avoid.end();
    (avoided ? rest : wanted).push_back(endpoint);
  }
  const std::vector<int64_t>& from = wanted.empty() ? rest : wanted;
  if (from.empty()) return {};
  // Another one could take the next attempt: one on which the call has not failed yet.
  return {.endpoint = from[picks_.Below(from.size())], .other_endpoint = wanted.size() > 1};
}

Answer SimSidecar::Serve(int64_t endpoint, SimHost& host, AttemptId id) {
  return endpoints_.at(static_cast<size_t>(endpoint)).service(host, id);
}

}  // namespace levee
