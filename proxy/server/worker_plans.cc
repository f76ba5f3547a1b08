// SPDX-License-Identifier: Apache-2.0
// How a worker finds out what becomes of calls with one PlanKey.
#include "base/host_port.h"
#include "server/worker.h"

namespace levee {

absl::StatusOr<std::shared_ptr<CallPlan>> Worker::MakePlan(const PlanKey& key,
                                                           const ConnectionOrigin& origin) {
  if (key.address.routed_by.size() > kMaxAuthority) {
    return absl::UnimplementedError(kAuthorityTooLong);
  }
  const std::string routed_by = WithoutFinalDot(SpelledOnce(key.address.routed_by));
  const Route* route = snapshot_->routes.Find(
      {.listener = key.listener, .authority = routed_by, .path = key.path, .peer = key.peer});
  if (route == nullptr) return NoRoute(routed_by, key.path);
  const UpstreamSpec& upstream = snapshot_->upstreams[route->upstream];
  const CallPolicy& policy = snapshot_->policies[route->policy];
  auto destination = destinations_.Find(upstream, key.address, origin.number, origin.sender);
  if (!destination.ok()) return destination.status();
  const std::string account_of = WithoutFinalDot((*destination)->authority);
  const CallPolicy* const shadow =
      route->shadow.has_value() ? &snapshot_->policies[*route->shadow] : nullptr;
  const RoutePolicies policies{
      .policy = policy,
      .shadow = shadow,
      .described = upstream.methods != nullptr && upstream.methods->idempotent.contains(key.path),
      .seed = shadow == nullptr ? 0 : random_.Next()};
  auto plan = std::make_shared<CallPlan>(
      CallPlan{.snapshot = snapshot_,
               .features = {shared_.tables, policies, {upstream.name, account_of, loop_.now()}},
               .series = {shared_.metrics, index_, upstream.name, policies},
               .kind = shared_.methods.Plan(upstream, key.path),
               .usual_answer = {},
               .destination = *std::move(destination),
               .inbound = key.listener.direction == Direction::kInbound,
               .traced = snapshot_->otlp.has_value(),
               .path = std::string(key.path),
               .routed_by = routed_by,
               .method = &shared_.metrics.Method(index_, upstream.name, key.path)});
  const PlannedBudget& account = plan->features.budget;
  if (account.over_limit) series_.limit_hits[Limit::kDestinations].Add();
  plan->waiting = plan->destination->LineOf(account.budget, index_, waiting_places_, io_);
  if (const auto& guard = plan->features.guard.guard; guard != nullptr) {
    plan->guard = {.line = guards_.Of(guard), .method = guard->MethodNumber(plan->path)};
  }
  if (snapshot_->tie.has_value()) plan->tie = shared_.ties.Get(snapshot_->tie->max_traces);
  // A budget of its own may be free for the destination's next call.
  if (!account.over_limit && plans_.Insert(key, plan)) {
    series_.limit_hits[Limit::kRoutesCached].Add();
  }
  return plan;
}

}  // namespace levee
