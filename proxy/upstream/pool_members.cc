// SPDX-License-Identifier: Apache-2.0
// A pool's targets and the endpoints they lead to.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "upstream/pool.h"

namespace levee {
namespace {

// Addresses of one name that become endpoints.
constexpr size_t kMaxAddresses = 1000;

// Endpoints that have left and whose names are still known.
constexpr size_t kMaxLeft = 256;

// Returns where a target is that needs no look-up; without addresses if it is a name.
EndpointPlace FixedPlace(const Pool::Target& target) {
  if (target.host.empty()) {
    const auto address = net::Address::FromUnixPath(target.path);
    return {.name = address->ToString(), .addresses = {*address}};
  }
  if (const auto ip = net::Address::FromIp(target.host, target.port)) {
    return {.name = ip->ToString(), .addresses = {*ip}};
  }
  if (target.host != "localhost") return {};
  // A server on either of the two addresses is the same server.
  return {.name = absl::StrCat("localhost:", target.port),
          .host = target.host,
          .addresses = {*net::Address::FromIp("127.0.0.1", target.port),
                        *net::Address::FromIp("::1", target.port)}};
}

}  // namespace

// New targets are added first, so that waiting calls always have something to wait for.
void Pool::SetTargets(const std::vector<Target>& targets) {
  std::vector<Target> leaving = std::exchange(targets_, targets);
  for (const Target& target : targets) {
    const auto known = std::find(leaving.begin(), leaving.end(), target);
    if (known == leaving.end()) {
      AddTarget(target);
    } else {
      leaving.erase(known);
    }
  }
  for (const Target& target : leaving) RemoveTarget(target);
}

void Pool::AddTarget(const Target& target) {
  if (EndpointPlace fixed = FixedPlace(target); !fixed.addresses.empty()) {
    AddEndpoint(std::move(fixed), nullptr);
  } else {
    names_.push_back(std::make_unique<ResolvedName>(io_, resolver_, policy_, random_, series_,
                                                    *this, target.host, target.port, target.asker));
    if (started_) names_.back()->Use();
  }
}

void Pool::RemoveTarget(const Target& target) {
  if (const EndpointPlace fixed = FixedPlace(target); !fixed.addresses.empty()) {
    const auto at = std::find_if(members_.begin(), members_.end(), [&](const auto& entry) {
      return entry.second.name == nullptr && entry.second.endpoint->name() == fixed.name;
    });
    Retire(at->first);
    return;
  }
  const auto at = std::find_if(names_.begin(), names_.end(), [&](const auto& name) {
    return name->host() == target.host && name->port() == target.port;
  });
  RetireThose([name = at->get()](const Member& member) { return member.name == name; });
  names_.erase(at);
  lost_some_ = true;
  io_.AtTurnEnd(*this);
}

void Pool::AddEndpoint(EndpointPlace place, ResolvedName* name) {
  const int64_t id = set_.Add();
  auto endpoint =
      std::make_unique<Endpoint>(io_, policy_, random_, series_, *this, id, std::move(place));
  Endpoint& added = *endpoint;
  members_.emplace(id, Member{std::move(endpoint), name});
  set_.Update(id, added.condition(), now());
  if (started_) added.Connect();
}

void Pool::OnResolved(ResolvedName& name, const std::vector<net::Address>& addresses) {
  absl::flat_hash_map<std::string, net::Address> missing;
  for (const net::Address& address : addresses) missing.emplace(address.ToString(), address);
  absl::flat_hash_set<std::string> kept;
  for (const auto& [id, member] : members_) {
    if (member.name != &name) continue;
    if (missing.erase(member.endpoint->name()) > 0) kept.insert(member.endpoint->name());
  }
  size_t count = kept.size();
  for (const auto& [text, address] : missing) {
    if (count++ >= kMaxAddresses) break;
    AddEndpoint({.name = text, .host = name.host(), .addresses = {address}}, &name);
    kept.insert(text);
  }
  RetireThose([&](const Member& member) {
    return member.name == &name && !kept.contains(member.endpoint->name());
  });
  if (queued_ == 0) return;
  lost_some_ = true;  // Users may have waited for this answer.
  io_.AtTurnEnd(*this);
}

void Pool::RetireThose(absl::FunctionRef<bool(const Member&)> condition) {
  std::vector<int64_t> ids;
  for (const auto& [id, member] : members_) {
    if (condition(member)) ids.push_back(id);
  }
  for (const int64_t id : ids) Retire(id);
}

void Pool::OnUnresolved(ResolvedName&) {
  lost_some_ = true;
  io_.AtTurnEnd(*this);
}

void Pool::Retire(int64_t id) {
  const auto at = members_.find(id);
  draining_.push_back(std::move(at->second.endpoint));
  Endpoint& endpoint = *draining_.back();
  members_.erase(at);
  set_.Remove(id, now());
  if (endpoint.state() == Endpoint::State::kReady) OnProvenLost();
  left_.emplace_back(id, endpoint.name());
  if (left_.size() > kMaxLeft) left_.pop_front();
  endpoint.Drain();
  ShowEjections();
  if (queued_ > 0) io_.AtTurnEnd(*this);
  lost_some_ = true;
  io_.AtTurnEnd(*this);
}

void Pool::OnEndpointDrained(Endpoint& endpoint) {
  const auto at = std::find_if(draining_.begin(), draining_.end(),
                               [&](const auto& held) { return held.get() == &endpoint; });
  io_.graveyard.Bury(std::move(*at));
  draining_.erase(at);
}

}  // namespace levee
