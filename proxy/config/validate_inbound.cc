// SPDX-License-Identifier: Apache-2.0
#include "config/validate_inbound.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/addresses.h"
#include "config/route_upstreams.h"
#include "config/shadow.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;

class InboundValidator {
 public:
  InboundValidator(const v1::Config& config, const Positions& positions, FaultList& faults)
      : config_(config), positions_(positions), faults_(faults) {
    for (int i = 0; i < config.policies_size(); ++i) policies_[config.policies(i).name()] = i;
    for (int i = 0; i < config.upstreams_size(); ++i) upstreams_[config.upstreams(i).name()] = i;
    for (int i = 0; i < config.listeners_size(); ++i) {
      const v1::Listener& listener = config.listeners(i);
      if (listener.direction() == v1::Listener::DIRECTION_INBOUND) inbound_[listener.name()] = i;
    }
  }

  void CheckRoute(int index);
  void CheckLoop(int route);

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
  }
  bool IsInbound(const v1::Route& route) const {
    return route.match().has_listener() && inbound_.contains(route.match().listener());
  }
  void CheckLoopOf(const std::pair<const std::string, int>& listener, int upstream);
  void CheckPolicyOfInbound(const std::string& route, const v1::Policy& policy);

  const v1::Config& config_;
  const Positions& positions_;
  FaultList& faults_;
  // Indexes by name; of listeners the inbound ones.
  std::map<std::string, int> policies_, upstreams_, inbound_;
};

// Returns how a policy sends a call more than once; empty if it does not.
std::string Repeats(const v1::Policy& policy) {
  if (policy.has_hedge()) return "hedges";
  int most = policy.retry().max_attempts();
  for (const v1::RetryRule& rule : policy.retry().rules()) {
    most = std::max(most, rule.max_attempts());
  }
  return most > 1 ? absl::StrCat("makes up to ", most, " attempts") : "";
}

void InboundValidator::CheckPolicyOfInbound(const std::string& route, const v1::Policy& policy) {
  const std::string repeats = Repeats(policy);
  if (repeats.empty()) return;
  Add(route + ".policy", CheckCode::kRetriesInbound,
      absl::StrCat("policy ", policy.name(), " ", repeats,
                   ", but calls of this route are retried by their callers, not by Levee; ",
                   policy.has_hedge() ? "leave hedge out" : "set its retry.max_attempts to 1"));
}

void InboundValidator::CheckRoute(int index) {
  const v1::Route& route = config_.routes(index);
  const std::string path = absl::StrCat("routes[", index, "]");
  if (route.deny() && !IsInbound(route) && !positions_.Broken(path + ".match.listener")) {
    Add(path + ".deny", CheckCode::kDenyOnEgress,
        "this route takes the application's own calls, which nobody is denied; name an inbound "
        "listener in match.listener");
  }
  const auto found = policies_.find(route.policy());
  if (found == policies_.end() || positions_.Broken(path + ".match.listener")) return;
  const v1::Policy& policy = config_.policies(found->second);
  if (IsInbound(route)) {
    CheckPolicyOfInbound(path, policy);
    if (!ShadowOf(route).empty()) {
      Add(path + ".shadow", CheckCode::kUselessShadow,
          "a shadow decides about retries, and calls to the application are not retried here; "
          "leave it out");
    }
  } else if (policy.has_guard()) {
    Add(positions_.Has("routes") ? path + ".policy"
                                 : absl::StrCat("policies[", found->second, "].guard"),
        CheckCode::kGuardOnEgress,
        absl::StrCat("policy ", route.policy(), " has a guard, and this route takes the ",
                     "application's own calls; name an inbound listener in match.listener, or ",
                     "leave guard out"));
  }
}

bool IsAny(const IpValue& ip) { return ip == ReadIp("0.0.0.0") || ip == ReadIp("::"); }

bool IsLoopback(const IpValue& ip) {
  const bool v4 = std::equal(ip.begin(), ip.begin() + 6, ReadIp("127.0.0.1")->begin());
  return v4 ? ip[6] >> 8 == 127 : ip == ReadIp("::1");
}

// Whether a connection to `endpoint` arrives at a listener of `address`, as far as is known without
// looking names up.
bool Meets(const EndpointSpec& endpoint, const ListenAddress& address) {
  if (endpoint.kind == EndpointSpec::Kind::kUnix) return endpoint.path == address.path;
  if (endpoint.kind != EndpointSpec::Kind::kAddress || endpoint.port != address.port) return false;
  const auto host = ReadIp(endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host);
  const auto listener = ReadIp(address.host);
  if (!host.has_value() || !listener.has_value()) return false;
  const bool any = IsAny(*listener);
  return host == listener || (any && (IsAny(*host) || IsLoopback(*host))) ||
         (IsAny(*host) && IsLoopback(*listener));
}

// Each call that takes the route would come back to the listener that it came from. On egress only
// the sockets tell, as calls there go to wherever names lead.
void InboundValidator::CheckLoop(int index) {
  const v1::Route& route = config_.routes(index);
  const auto listener = inbound_.find(route.match().listener());
  if (listener == inbound_.end()) return;
  for (const auto& [field, name] : UpstreamsOf(route)) {
    if (const auto found = upstreams_.find(name); found != upstreams_.end()) {
      CheckLoopOf(*listener, found->second);
    }
  }
}

void InboundValidator::CheckLoopOf(const std::pair<const std::string, int>& listener,
                                   int upstream) {
  const auto address = ParseListenerAddress(config_.listeners(listener.second).address());
  if (!address.ok() || (address->port == 0 && address->path.empty())) return;
  const auto& endpoints = config_.upstreams(upstream).endpoints();
  for (int i = 0; i < endpoints.size(); ++i) {
    const absl::StatusOr<EndpointSpec> endpoint = ParseEndpoint(endpoints[i]);
    if (!endpoint.ok() || !Meets(*endpoint, *address)) continue;
    Add(absl::StrCat("upstreams[", upstream, "].endpoints[", i, "]"),
        CheckCode::kEndpointIsListener,
        absl::StrCat(Quoted(endpoints[i]), " is where listener ", listener.first,
                     " listens, so its calls would come back; name the application's port"));
  }
}

}  // namespace

void ValidateInbound(const v1::Config& config, const Positions& positions, FaultList& faults) {
  InboundValidator validator(config, positions, faults);
  for (int i = 0; i < config.routes_size(); ++i) {
    validator.CheckRoute(i);
    validator.CheckLoop(i);
  }
  for (int i = 0; i < config.policies_size(); ++i) {
    if (!config.policies(i).has_guard()) continue;
    ValidateGuard(absl::StrCat("policies[", i, "].guard"), config.policies(i).guard(), positions,
                  faults);
  }
}

void ValidateGuard(const std::string& path, const v1::Guard& guard, const Positions& positions,
                   FaultList& faults) {
  const v1::Guard::Concurrency& limit = guard.concurrency();
  const std::string parent = path + ".concurrency";
  if (limit.limit() != "adaptive") {
    for (const char* field : {".initial", ".min", ".max"}) {
      if (!positions.Has(parent + field) || positions.Broken(parent + ".limit")) continue;
      faults.Add(positions.Find(parent + field), CheckCode::kNeedsField,
                 absl::StrCat("has no effect beside limit: ", limit.limit(),
                              ", which is not adaptive; leave it out"));
    }
  } else if (limit.initial() < limit.min() || limit.initial() > limit.max()) {
    const char* const given = positions.Has(parent + ".initial") ? ".initial"
                              : limit.initial() < limit.min()    ? ".min"
                                                                 : ".max";
    faults.Add(positions.Find(parent + given), CheckCode::kInitialOutsideBounds,
               absl::StrCat("initial, ", limit.initial(), ", is not from min, ", limit.min(),
                            ", to max, ", limit.max()));
  }
}

}  // namespace levee
