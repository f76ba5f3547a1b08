#include "server/destination_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"

namespace levee {

DestinationTable::DestinationTable(const DestinationParts& parts, const Snapshot& snapshot,
                                   const h2::Session::Options& session)
    : parts_(parts), snapshot_(snapshot), session_(session) {}

const ConnectPolicy& DestinationTable::ConnectPolicyOf(const UpstreamSpec& upstream) {
  auto [entry, is_new] = connect_policies_.try_emplace(upstream.name);
  ConnectPolicy& policy = entry->second;
  if (is_new) {
    policy.connect_timeout = upstream.connect_timeout;
    policy.reconnect = upstream.reconnect;
    policy.keepalive = {.interval = upstream.keepalive_interval,
                        .timeout = upstream.keepalive_timeout};
    policy.session = session_;
    policy.own_listeners = parts_.own_listeners;
  }
  return policy;
}

absl::StatusOr<std::vector<Pool::Target>> DestinationTable::TargetsOf(
    const UpstreamSpec& upstream, std::string_view authority) const {
  std::vector<Pool::Target> targets;
  if (upstream.by_authority()) {
    const auto target = SplitHostPort(authority);
    if (!target.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("cannot dial authority \"", Abseil(authority),
                       "\": it is not HOST:PORT, and the route's upstream has no endpoints"));
    }
    targets.push_back({.host = std::string(target->host), .port = target->port, .path = ""});
    return targets;
  }
  for (const EndpointSpec& endpoint : upstream.endpoints) {
    targets.push_back({.host = endpoint.host, .port = endpoint.port, .path = endpoint.path});
  }
  return targets;
}

absl::StatusOr<std::shared_ptr<Destination>> DestinationTable::Find(const UpstreamSpec& upstream,
                                                                    const RetryBudgetPolicy& budget,
                                                                    std::string_view authority) {
  const std::string dialled = upstream.by_authority() ? std::string(authority) : std::string();
  std::string key = absl::StrCat(upstream.name, "\n", dialled, "\n", budget.ratio, " ",
                                 absl::ToInt64Nanoseconds(budget.window), " ",
                                 budget.floor_per_second, " ", budget.floor_min_success);
  if (const auto found = destinations_.find(key); found != destinations_.end()) {
    if (found->second->over_limit) TakeBudget(*found->second, dialled, budget);
    return found->second;
  }
  const auto targets = TargetsOf(upstream, authority);
  if (!targets.ok()) return targets.status();
  MakeRoom();
  auto destination = std::make_shared<Destination>();
  destination->upstream = &upstream;
  destination->series = &parts_.metrics.Upstream(parts_.worker, upstream.name);
  destination->pool =
      std::make_unique<Pool>(parts_.io, parts_.resolver, ConnectPolicyOf(upstream), parts_.random,
                             *destination->series, parts_.series, *targets);
  TakeBudget(*destination, dialled, budget);
  destinations_.emplace(std::move(key), destination);
  return destination;
}

void DestinationTable::TakeBudget(Destination& destination, const std::string& authority,
                                  const RetryBudgetPolicy& policy) {
  BudgetTable::Account account =
      parts_.budgets.Get(destination.upstream->name, authority, policy, parts_.io.loop.now());
  // Calls may still use the shared one, which the table keeps.
  destination.budget = std::move(account.budget);
  destination.over_limit = account.over_limit;
  if (account.over_limit) parts_.series.limit_hits[Limit::kDestinations].Add();
}

// A tenth goes at a time, so that an authority that is made up costs a few steps and not a look at
// all of them. Calls do not keep a destination: there may be more of them than the limit allows.
void DestinationTable::MakeRoom() {
  const auto limit = static_cast<size_t>(snapshot_.limits.destinations);
  if (destinations_.size() < limit) return;
  parts_.series.limit_hits[Limit::kDestinations].Add();
  std::vector<decltype(destinations_)::iterator> all;
  for (auto at = destinations_.begin(); at != destinations_.end(); ++at) all.push_back(at);
  const auto end = all.begin() + static_cast<ptrdiff_t>(std::max<size_t>(limit / 10, 1));
  std::nth_element(all.begin(), end - 1, all.end(), [](const auto& a, const auto& b) {
    return a->second->last_used < b->second->last_used;
  });
  for (auto oldest = all.begin(); oldest != end; ++oldest) {
    (*oldest)->second->gone = true;
    destinations_.erase(*oldest);
  }
  some_gone_ = true;
}

void DestinationTable::Close() {
  for (auto& [key, destination] : destinations_) destination->pool->Close();
}

}  // namespace levee
