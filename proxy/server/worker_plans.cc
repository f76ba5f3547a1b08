// SPDX-License-Identifier: Apache-2.0
// How a worker finds out what becomes of calls with one PlanKey.
#include "base/host_port.h"
#include "server/worker.h"

namespace levee {

h2::StreamHandler* Worker::RefuseUnplanned(DownstreamConnection& from, h2::Stream& stream,
                                           const Metadata& head, const absl::Status& why) {
  if (absl::IsUnimplemented(why)) series_.rejects[Reject::kNoRoute].Add();
  if (absl::IsPermissionDenied(why)) series_.rejects[Reject::kDenied].Add();
  return Refuse(from, stream, head, static_cast<StatusCode>(why.code()),
                std::string(why.message()));
}

// `key` has no plan, unless each of its calls has to be looked at.
absl::StatusOr<std::shared_ptr<CallPlan>> Worker::FindPlan(PlanKey key, const Metadata& head,
                                                           const ConnectionOrigin& origin) {
  if (key.address.routed_by.size() > kMaxAuthority) {
    return absl::UnimplementedError(kAuthorityTooLong);
  }
  const RouteTable& routes = snapshot_->routes;
  const RouteChoice* choice = routes.looks_at_calls() ? plans_.FindChoice(key) : nullptr;
  std::string routed_by;
  std::optional<int> number;
  if (choice == nullptr) {
    routed_by = WithoutFinalDot(SpelledOnce(key.address.routed_by));
    const std::vector<int> candidates = routes.Candidates({.listener = key.listener,
                                                           .authority = routed_by,
                                                           .path = key.path,
                                                           .peer = key.peer,
                                                           .headers = std::nullopt});
    if (candidates.empty()) return NoRoute(routed_by, key.path);
    number = candidates.front();
    if (routes.routes()[static_cast<size_t>(*number)].DependsOnCalls()) {
      bool full = false;
      choice = plans_.InsertChoice(key, routes, candidates, full);
      if (full) series_.limit_hits[Limit::kRoutesCached].Add();
    }
  }
  if (choice != nullptr) {
    number = choice->Choose(head);
    if (!number.has_value()) return NoRoute(key.address.routed_by, key.path);
  }
  const Route& route = routes.routes()[static_cast<size_t>(*number)];
  if (route.deny) return Denied(key.path);
  const int upstream = route.UpstreamOf(head, random_);
  if (choice != nullptr) {
    key.rules = routes.RulesOf(*number);
    key.upstream = upstream;
    if (std::shared_ptr<CallPlan> plan = plans_.Find(key); plan != nullptr) return plan;
    routed_by = WithoutFinalDot(SpelledOnce(key.address.routed_by));
  }
  return MakePlan(key, route, upstream, routed_by, origin);
}

absl::StatusOr<std::shared_ptr<CallPlan>> Worker::MakePlan(const PlanKey& key, const Route& route,
                                                           int number, const std::string& routed_by,
                                                           const ConnectionOrigin& origin) {
  const UpstreamSpec& upstream = snapshot_->upstreams[number];
  const CallPolicy& policy = snapshot_->policies[route.policy];
  auto destination = destinations_.Find(upstream, key.address, origin.number, origin.sender);
  if (!destination.ok()) return destination.status();
  const std::string account_of = WithoutFinalDot((*destination)->authority);
  const CallPolicy* const shadow =
      route.shadow.has_value() ? &snapshot_->policies[*route.shadow] : nullptr;
  const RoutePolicies policies{
      .policy = policy,
      .shadow = shadow,
      .described = upstream.methods != nullptr && upstream.methods->idempotent.contains(key.path),
      .seed = shadow == nullptr ? 0 : random_.Next(),
      .timeout = route.timeout};
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
