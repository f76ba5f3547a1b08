// SPDX-License-Identifier: Apache-2.0
#include "server/destination_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "server/applications.h"

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
  ForgetThose([&](Destination& destination) { return !StillFits(destination, upstreams); });
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
  ForgetThose([](Destination& destination) { return destination.pool->LeadsToSelf(); });
  MakeMissing();
}

void DestinationTable::ForgetThose(absl::FunctionRef<bool(Destination&)> condition) {
  std::erase_if(destinations_, [&](const auto& entry) {
    if (!condition(*entry.second)) return false;
    Forget(*entry.second);
    return true;
  });
}

void DestinationTable::Forget(Destination& destination) {
  destination.gone = some_gone_ = true;
  destination.pool->ConnectOnlyOnDemand();  // It lives as long as calls run on it.
}

absl::StatusOr<std::shared_ptr<Destination>> DestinationTable::Find(const UpstreamSpec& upstream,
                                                                    const CallAddress& address,
                                                                    net::Asker asker) {
  const std::string authority = DialledBy(upstream, address);
  const auto key = std::pair(upstream.name, authority);
  if (const auto found = destinations_.find(key); found != destinations_.end()) {
    return found->second;
  }
  const auto targets = TargetsOf(upstream, authority, asker);
  if (!targets.ok()) return targets.status();
  MakeRoom();
  return Make(upstream.name, authority, *targets);
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
  if (destination->connect->watcher != nullptr) destination->pool->Connect();
  return destination;
}

// A tenth goes at a time, so that an authority that is made up costs a few steps and not a look at
// all of them. Calls do not keep a destination: there may be more of them than the limit allows.
void DestinationTable::MakeRoom() {
  if (destinations_.size() < limit_) return;
  parts_.io.series.limit_hits[Limit::kDestinations].Add();
  std::vector<decltype(destinations_)::iterator> all;
  for (auto at = destinations_.begin(); at != destinations_.end(); ++at) all.push_back(at);
  // A reload may have lowered the limit.
  const size_t above = destinations_.size() - limit_;
  const auto end = all.begin() + static_cast<ptrdiff_t>(above + std::max<size_t>(limit_ / 10, 1));
  std::nth_element(all.begin(), end - 1, all.end(), [](const auto& a, const auto& b) {
    return a->second->last_used < b->second->last_used;
  });
  for (auto oldest = all.begin(); oldest != end; ++oldest) {
    Forget(*(*oldest)->second);
    destinations_.erase(*oldest);
  }
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
