// SPDX-License-Identifier: Apache-2.0
#include "server/destination_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "server/applications.h"
#include "server/eviction_order.h"

namespace levee {
namespace {

// An application that is there again is seen within this time.
constexpr absl::Duration kApplicationAgain = absl::Milliseconds(50);

std::vector<Pool::Target> ToTargets(const EndpointList& endpoints) {
  std::vector<Pool::Target> targets;
  for (const EndpointSpec& endpoint : endpoints) {
    targets.push_back({.host = endpoint.host, .port = endpoint.port, .path = endpoint.path});
  }
  return targets;
}

// How often it is looked which destinations nobody uses.
constexpr absl::Duration kLook = absl::Minutes(1);

// Whether calls have named it, by the address that is dialled.
bool IsNamed(const Destination& destination) { return !destination.authority.empty(); }

// Returns HOST:PORT, or "" where the upstream's endpoints say where.
std::string DialledBy(const UpstreamSpec& upstream, const CallAddress& address) {
  switch (upstream.by) {
    case UpstreamSpec::By::kAuthority:
      return SpelledOnce(address.routed_by);
    case UpstreamSpec::By::kOriginal:
      return SpelledOnce(address.original);
    case UpstreamSpec::By::kEndpoints:
      break;
  }
  return "";
}

}  // namespace

DestinationTable::DestinationTable(const DestinationParts& parts, const Snapshot& snapshot,
                                   const Http2Connection::Options& connection)
    : parts_(parts) {
  Reload(snapshot, connection);
}

ConnectPolicy DestinationTable::ConnectPolicyOf(const UpstreamSpec& upstream,
                                                const Http2Connection::Options& connection) const {
  const bool application = applications_.contains(upstream.name);
  BackoffPolicy reconnect = upstream.reconnect;
  if (application) {
    reconnect.initial = std::min(reconnect.initial, kApplicationAgain);
    reconnect.max = std::min(reconnect.max, kApplicationAgain);
  }
  return {
      .upstream = upstream.name,
      .past_hosts_file = upstream.past_hosts_file,
      .connect_timeout = upstream.connect_timeout,
      .connect_wait = upstream.connect_wait,
      .waiting = &parts_.waiting,
      .reconnect = reconnect,
      .keepalive = {.interval = upstream.keepalive_interval, .timeout = upstream.keepalive_timeout},
      .max_connection_age = upstream.max_connection_age,
      .ejection = upstream.ejection,
      .tls = upstream.tls,
      .connection = connection,
      .own_listeners = &parts_.own_listeners,
      .watcher = application ? &parts_.watcher : nullptr};
}

void DestinationTable::Reload(const Snapshot& snapshot,
                              const Http2Connection::Options& connection) {
  limit_ = static_cast<size_t>(snapshot.limits.destinations);
  most_named_ = static_cast<size_t>(
      MostNamed(snapshot.limits.destinations, parts_.memory.limit(), parts_.metrics.workers()));
  applications_.clear();
  for (const auto& [listener, upstreams] : ApplicationsOf(snapshot)) {
    applications_.insert(upstreams.begin(), upstreams.end());
  }
  auto before = std::exchange(connect_policies_, {});
  UpstreamsByName upstreams;
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    upstreams[upstream.name] = &upstream;
    const ConnectPolicy policy = ConnectPolicyOf(upstream, connection);
    std::shared_ptr<ConnectPolicy>& known = before[upstream.name];
    if (known == nullptr || *known != policy) {
      known = std::make_shared<ConnectPolicy>(policy);
    } else if (policy.tls.has_value()) {
      known->tls->context = policy.tls->context;  // for new connections
    }
    connect_policies_[upstream.name] = std::move(known);
  }
  std::erase_if(endpoints_, [&](const auto& entry) { return !upstreams.contains(entry.first); });
  ForgetThose([&](const auto& destination) { return !StillFits(*destination, upstreams); });
  MakeMissing();
}

void DestinationTable::SetEndpoints(const std::string& upstream,
                                    std::shared_ptr<const EndpointList> endpoints) {
  const auto found = destinations_.find({upstream, ""});
  if (found != destinations_.end()) found->second->pool->SetTargets(ToTargets(*endpoints));
  endpoints_[upstream] = std::move(endpoints);
  MakeMissing();
}

// Endpoints are seen, as idle ones, before the first call. An upstream without any has nothing to
// be seen, and nor have those beyond the limit.
void DestinationTable::MakeMissing() {
  for (const auto& [upstream, endpoints] : endpoints_) {
    if (endpoints->empty() || destinations_.size() >= limit_) continue;
    if (!connect_policies_.contains(upstream) || destinations_.contains({upstream, ""})) continue;
    Make(upstream, "", ToTargets(*endpoints));
  }
}

bool DestinationTable::Refuses(const std::string& upstream) const {
  const auto found = destinations_.find({upstream, ""});
  return found != destinations_.end() && found->second->pool->refuses();
}

bool DestinationTable::StillFits(const Destination& destination,
                                 const UpstreamsByName& upstreams) const {
  const auto upstream = upstreams.find(destination.upstream);
  return upstream != upstreams.end() &&
         (upstream->second->by == UpstreamSpec::By::kEndpoints) == destination.authority.empty() &&
         connect_policies_.find(destination.upstream)->second == destination.connect;
}

absl::StatusOr<std::vector<Pool::Target>> DestinationTable::TargetsOf(const UpstreamSpec& upstream,
                                                                      std::string_view authority,
                                                                      net::Asker asker) const {
  if (upstream.by == UpstreamSpec::By::kEndpoints) {
    const auto found = endpoints_.find(upstream.name);
    return found == endpoints_.end() ? std::vector<Pool::Target>() : ToTargets(*found->second);
  }
  const auto target = SplitHostPort(authority);
  if (!target.has_value() && upstream.by == UpstreamSpec::By::kOriginal) {
    return absl::UnimplementedError(
        "the route's upstream has \"original:\", and the call's connection was not redirected: its "
        "caller connected to Levee itself");
  }
  if (!target.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("cannot dial authority \"", Abseil(authority),
                     "\": it is not HOST:PORT, and the route's upstream has no endpoints"));
  }
  return std::vector<Pool::Target>{
      {.host = std::string(target->host), .port = target->port, .path = "", .asker = asker}};
}

void DestinationTable::ForgetLoops() {
  ForgetThose([](const auto& destination) { return destination->pool->LeadsToSelf(); });
  MakeMissing();
}

void DestinationTable::ForgetThose(
    absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition) {
  for (const auto at : Where(condition)) Forget(at);
  ErasePlans();
}

std::vector<DestinationTable::Destinations::iterator> DestinationTable::Where(
    absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition) {
  std::vector<Destinations::iterator> those;
  for (auto at = destinations_.begin(); at != destinations_.end(); ++at) {
    if (condition(at->second)) those.push_back(at);
  }
  return those;
}

void DestinationTable::Forget(Destinations::iterator at) {
  Destination& destination = *at->second;
  destination.gone = true;
  destination.pool->ConnectOnlyOnDemand();  // It lives as long as calls run on it.
  if (IsNamed(destination)) --named_;
  destinations_.erase(at);
}

// Cached plans hold destinations that have gone.
void DestinationTable::ErasePlans() {
  parts_.plans.EraseThose([](const Destination& destination) { return destination.gone; });
}

// A destination stays as long as a call runs on it, however old the call is.
void DestinationTable::OnTimer(Instant now) {
  const bool again = named_ > 0;
  const Instant old = now - kIdle;
  const auto is_old = [old](const Destination& destination) {
    return IsNamed(destination) && destination.last_used <= old;
  };
  parts_.plans.EraseThose(is_old);
  ForgetThose([&](const auto& destination) {
    return is_old(*destination) && destination.use_count() == 1;
  });
  parts_.tables.ForgetUnused(now);
  if (again) parts_.io.wheel.Arm(*this, now + kLook);
}

int64_t DestinationTable::GiveBack(int64_t bytes) {
  auto given = static_cast<int64_t>(parts_.plans.bytes());
  parts_.plans.Clear();
  const auto idle = FirstToGo([](const auto& destination) {
    return IsNamed(*destination) && destination.use_count() == 1;
  });
  if (!idle.empty() && given < bytes) parts_.io.series.limit_hits[Limit::kDestinations].Add();
  for (const auto at : idle) {
    if (given >= bytes) break;
    given += kBytes;
    Forget(at);
  }
  parts_.tables.ForgetUnused(parts_.io.loop.now());
  return given;
}

absl::StatusOr<std::shared_ptr<Destination>> DestinationTable::Find(const UpstreamSpec& upstream,
                                                                    const CallAddress& address,
                                                                    net::Asker asker,
                                                                    uint64_t sender) {
  const std::string authority = DialledBy(upstream, address);
  const auto key = std::pair(upstream.name, authority);
  if (const auto found = destinations_.find(key); found != destinations_.end()) {
    return found->second;
  }
  const auto targets = TargetsOf(upstream, authority, asker);
  if (!targets.ok()) return targets.status();
  MakeRoom(/*named=*/!authority.empty());
  auto made = Make(upstream.name, authority, *targets);
  if (!authority.empty()) made->sender = sender;
  return made;
}

std::shared_ptr<Destination> DestinationTable::Make(const std::string& upstream,
                                                    const std::string& authority,
                                                    const std::vector<Pool::Target>& targets) {
  auto destination = std::make_shared<Destination>(parts_.failed_calls);
  destination->upstream = upstream;
  destination->authority = authority;
  destination->connect = connect_policies_.find(upstream)->second;
  destination->series = &parts_.metrics.Upstream(parts_.worker, upstream);
  destination->pool = std::make_unique<Pool>(parts_.io, parts_.resolver, *destination->connect,
                                             parts_.random, *destination->series, targets);
  destinations_.emplace(std::pair(upstream, authority), destination);
  if (IsNamed(*destination)) {
    ++named_;
    if (!linked()) parts_.io.wheel.Arm(*this, parts_.io.loop.now() + kLook);
  }
  if (destination->connect->watcher != nullptr) destination->pool->Connect();
  return destination;
}

std::vector<DestinationTable::Destinations::iterator> DestinationTable::FirstToGo(
    absl::FunctionRef<bool(const std::shared_ptr<Destination>&)> condition) {
  const auto those = Where(condition);
  std::vector<DestinationUse> uses;
  for (const auto at : those) {
    const Destination& destination = *at->second;
    uses.push_back({.sender = destination.sender,
                    .reached = destination.pool->reached(),
                    .last_used = destination.last_used});
  }
  std::vector<Destinations::iterator> ordered;
  for (const size_t place : EvictionOrder(uses)) ordered.push_back(those[place]);
  return ordered;
}

// A tenth goes at a time, so that an authority that is made up costs a few steps and not a look at
// all of them. Calls do not keep a destination: there may be more of them than the limit allows.
void DestinationTable::MakeRoom(bool named) {
  const bool too_many_named = named && named_ >= most_named_;
  if (!too_many_named && destinations_.size() < limit_) return;
  parts_.io.series.limit_hits[Limit::kDestinations].Add();
  const auto those =
      FirstToGo([&](const auto& destination) { return !too_many_named || IsNamed(*destination); });
  // A reload may have lowered the limit.
  const size_t most = too_many_named ? most_named_ : limit_;
  const size_t count = those.size() - most + std::max<size_t>(most / 10, 1);
  for (const auto at : std::span(those).first(count)) Forget(at);
  ErasePlans();
}

std::vector<EndpointView> DestinationTable::View() const {
  std::vector<EndpointView> views;
  for (const auto& [key, destination] : destinations_) {
    for (EndpointView& view : destination->pool->View()) {
      view.upstream = destination->upstream;
      view.authority = destination->authority;
      views.push_back(std::move(view));
    }
  }
  return views;
}

void DestinationTable::Close() {
  for (auto& [key, destination] : destinations_) destination->pool->Close();
}

}  // namespace levee
