// SPDX-License-Identifier: Apache-2.0
#include "config/warnings.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "config/addresses.h"
#include "config/build_match.h"
#include "config/element.h"
#include "config/known_parts.h"
#include "config/policy_warnings.h"
#include "config/route_upstreams.h"
#include "config/shadow.h"
#include "config/values.h"
#include "policy/route_table.h"

namespace levee {
namespace {

namespace v1 = config::v1;

// The shortest keepalive interval that gRPC servers allow by default (gRFC A8).
constexpr absl::Duration kUsualKeepalive = absl::Minutes(5);

// A route is compared with this many routes before it. People write fewer, but generators may not.
constexpr int kMaxCompared = 1000;

// Whether a method of that name, or all that begin with it, should run only once. The first word of
// the name says so.
bool ActsOnce(std::string_view method) {
  constexpr std::array<std::string_view, 4> kVerbs = {"Create", "Charge", "Pay", "Send"};
  const std::string_view name = method.substr(method.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view verb : kVerbs) {
    if (!name.starts_with(verb)) continue;
    const std::string_view rest = name.substr(verb.size());
    if (rest.empty() || !absl::ascii_islower(static_cast<unsigned char>(rest[0]))) return true;
  }
  return false;
}

bool IsOpen(const std::string& address) {
  const absl::StatusOr<ListenAddress> parsed = ParseListenerAddress(address);
  return parsed.ok() && parsed->path.empty() && !parsed->host.starts_with("127.") &&
         parsed->host != "::1";
}

bool IsInbound(const v1::Listener& listener) {
  return DirectionOf(listener) == Direction::kInbound;
}

// Whether what connects to the endpoint reaches the listener, as far as one can tell without the
// addresses of the machine.
bool IsAt(const EndpointSpec& endpoint, const ListenAddress& listener) {
  if (endpoint.kind == EndpointSpec::Kind::kUnix) return endpoint.path == listener.path;
  if (endpoint.kind != EndpointSpec::Kind::kAddress || endpoint.port != listener.port) return false;
  const bool local = endpoint.host == "localhost";
  const std::optional<IpValue> to = ReadIp(local ? "127.0.0.1" : endpoint.host);
  const std::optional<IpValue> own = ReadIp(listener.host);
  if (!to.has_value() || !own.has_value()) return false;
  return *to == *own || (IsLoopback(*to) && TakesConnectionsTo(*own, *to));
}

bool CoversAll(const Route& wide, const std::vector<Route>& routes) {
  return absl::c_all_of(routes, [&](const Route& narrow) { return Covers(wide, narrow); });
}

class Warnings {
 public:
  Warnings(const v1::Config& config, const Positions& positions, const MethodsOfUpstreams& methods,
           const FaultList& faults, FaultList& warnings)
      : config_(config),
        positions_(positions),
        methods_(methods),
        known_(positions, faults),
        warnings_(warnings) {
    for (int i = 0; i < config.upstreams_size(); ++i) upstreams_[config.upstreams(i).name()] = i;
    for (int i = 0; i < config.policies_size(); ++i) policies_[config.policies(i).name()] = i;
    for (int i = 0; i < config.routes_size(); ++i) {
      std::optional<Route>& match = matches_.emplace_back();
      if (!Knows(i, "match") || !known_.KnowsNames(Element("routes", i))) continue;
      match = BuildMatch(config, config.routes(i).match());
    }
  }

  void CheckListeners();
  void CheckAdmin(const char* field, const std::string& address);
  void CheckUpstreams();
  void CheckPolicies();
  void CheckOverload();
  void CheckRoutes();
  void CheckUse();

  // Whether so much is unknown that nothing can be said of where routes lead.
  bool vague() const { return known_.vague(); }

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    warnings_.Add(positions_.Find(path), code, std::move(text));
  }
  // Whether a field of a route has no fault.
  bool Knows(int route, const char* field) const {
    return known_.KnowsAll(Element("routes", route), {field});
  }
  bool KnowsTargets(const char* field) const;
  const DescribedMethods* MethodsOf(const v1::Route& route) const;
  bool CheckReach(int index);
  void CheckRepeats(int index);
  void CheckTimeout(int index);
  void CheckOriginal(int index);
  void CheckOwnListeners(const std::string& path, const v1::Upstream& upstream);
  void CheckAllowByHeader(int index);
  void CheckPeerDemanded(int index);
  std::string MethodThatActsOnce(int index) const;
  bool IsTakenBefore(int index, const std::string& method) const;
  bool Serves(const v1::Route& route, const v1::Listener& listener) const;
  std::vector<Route> OfEachListener(const Route& route) const;
  bool ReachesByAuthority(const v1::Listener& listener) const;
  bool Redirects() const;

  const v1::Config& config_;
  const Positions& positions_;
  const MethodsOfUpstreams& methods_;
  const KnownParts known_;
  FaultList& warnings_;
  std::map<std::string, int> upstreams_;  // by name
  std::map<std::string, int> policies_;
  std::vector<std::optional<Route>> matches_;  // by route; none: it has faults
  std::set<std::string> warned_of_streams_;    // policies, by their paths
};

bool Warnings::Serves(const v1::Route& route, const v1::Listener& listener) const {
  if (!route.match().has_listener()) return !IsInbound(listener);
  return route.match().listener() == listener.name();
}

// Returns the route once for each listener that it serves, and as it is if it serves none.
std::vector<Route> Warnings::OfEachListener(const Route& route) const {
  if (route.listener.index != ListenerRef::kNone) return {route};
  std::vector<Route> routes;
  for (int i = 0; i < config_.listeners_size(); ++i) {
    if (IsInbound(config_.listeners(i))) continue;
    routes.emplace_back(route).listener.index = i;
  }
  return routes.empty() ? std::vector<Route>{route} : routes;
}

// A faulty route may lead anywhere that the application's own calls go.
bool Warnings::ReachesByAuthority(const v1::Listener& listener) const {
  for (const v1::Upstream& upstream : config_.upstreams()) {
    if (upstream.endpoints_size() != 1 || upstream.endpoints(0) != "authority:") continue;
    if (!IsInbound(listener)) return true;
    for (const v1::Route& route : config_.routes()) {
      if (!Serves(route, listener)) continue;
      for (const auto& [field, name] : UpstreamsOf(route)) {
        if (name == upstream.name()) return true;
      }
    }
  }
  return false;
}

void Warnings::CheckListeners() {
  for (int i = 0; i < config_.listeners_size(); ++i) {
    const v1::Listener& listener = config_.listeners(i);
    const bool tunnels = absl::c_linear_search(listener.capture(), v1::Listener::CAPTURE_CONNECT);
    if (!IsOpen(listener.address()) || (!tunnels && !ReachesByAuthority(listener))) continue;
    Add(Element("listeners", i) + ".address", CheckCode::kExposedListener,
        absl::StrCat("lets everybody who reaches it send anything anywhere, by ",
                     tunnels ? "CONNECT" : "an \"authority:\" upstream",
                     "; listen on 127.0.0.1, or allow neither CONNECT nor \"authority:\""));
  }
}

void Warnings::CheckAdmin(const char* field, const std::string& address) {
  if (!IsOpen(address)) return;
  Add(absl::StrCat("admin.", field), CheckCode::kExposedAdmin,
      "lets everybody who reaches it see the configuration and drain this sidecar; listen on "
      "127.0.0.1");
}

bool Warnings::Redirects() const {
  return std::any_of(
      config_.listeners().begin(), config_.listeners().end(), [](const v1::Listener& listener) {
        return absl::c_linear_search(listener.capture(), v1::Listener::CAPTURE_ORIGINAL_DST);
      });
}

// Calls of the application that come back to the listener that it calls would go round for ever, so
// they are refused.
void Warnings::CheckOwnListeners(const std::string& path, const v1::Upstream& upstream) {
  for (int i = 0; i < upstream.endpoints_size(); ++i) {
    const absl::StatusOr<EndpointSpec> endpoint = ParseEndpoint(upstream.endpoints(i));
    if (!endpoint.ok()) continue;
    for (const v1::Listener& listener : config_.listeners()) {
      const absl::StatusOr<ListenAddress> address = ParseListenerAddress(listener.address());
      if (IsInbound(listener) || !address.ok() || !IsAt(*endpoint, *address)) continue;
      Add(absl::StrCat(path, "[", i, "]"), CheckCode::kOwnListener,
          absl::StrCat("is this sidecar's own listener ", listener.name(),
                       ", and calls that come back are refused; name the port of the service"));
    }
  }
}

void Warnings::CheckUpstreams() {
  for (int i = 0; i < config_.upstreams_size(); ++i) {
    CheckOwnListeners(Element("upstreams", i) + ".endpoints", config_.upstreams(i));
    if (absl::c_linear_search(config_.upstreams(i).endpoints(), "original:") && !Redirects()) {
      Add(Element("upstreams", i) + ".endpoints", CheckCode::kNoOriginal,
          "no call can be sent to \"original:\", since no listener has `capture: [original_dst]`; "
          "add it to one, or name the endpoints");
    }
    const std::string& interval = config_.upstreams(i).keepalive().interval();
    const absl::StatusOr<absl::Duration> parsed = ParseDuration(interval);
    if (!parsed.ok() || *parsed <= absl::ZeroDuration() || *parsed >= kUsualKeepalive) continue;
    Add(Element("upstreams", i) + ".keepalive.interval", CheckCode::kFrequentKeepalive,
        absl::StrCat(interval, " is below 5m, and by default servers close ",
                     "connections that PING more often; raise it, or allow it on the servers"));
  }
}

const DescribedMethods* Warnings::MethodsOf(const v1::Route& route) const {
  const auto upstream = upstreams_.find(route.upstream());
  return upstream == upstreams_.end() ? nullptr
                                      : methods_[static_cast<size_t>(upstream->second)].get();
}

void Warnings::CheckPolicies() {
  std::set<std::string> described;  // used for methods that descriptors call idempotent
  for (const v1::Route& route : config_.routes()) {
    const DescribedMethods* const methods = MethodsOf(route);
    if (methods != nullptr && !methods->idempotent.empty()) described.insert(route.policy());
  }
  for (int i = 0; i < config_.policies_size(); ++i) {
    const v1::Policy& policy = config_.policies(i);
    FindPolicyWarnings(Element("policies", i), policy, described.contains(policy.name()),
                       positions_, known_, warnings_);
  }
}

void Warnings::CheckOverload() {
  if (!known_.Knows("overload.honor")) return;
  for (const int signal : config_.overload().honor()) {
    if (signal == v1::Overload::SIGNAL_LEVEE) return;
  }
  Add("overload.honor", CheckCode::kMarkIgnored,
      "does not list levee, so calls that another Levee below has given up are retried here, and "
      "retries multiply with the layers; list it");
}

// Returns false, with a warning, if no call gets this route.
bool Warnings::CheckReach(int index) {
  const std::vector<Route> match = OfEachListener(*matches_[static_cast<size_t>(index)]);
  for (int i = 0; i < std::min(index, kMaxCompared); ++i) {
    const std::optional<Route>& earlier = matches_[static_cast<size_t>(i)];
    if (!earlier.has_value() || !CoversAll(*earlier, match)) continue;
    Add(Element("routes", index), CheckCode::kUnreachableRoute,
        absl::StrCat("no call reaches it: ", FormatPlace(positions_.Find(Element("routes", i))),
                     " takes all of its calls; move it up, or remove it"));
    return false;
  }
  return true;
}

// An earlier route that is not known may take it.
bool Warnings::IsTakenBefore(int index, const std::string& method) const {
  Route of_method = *matches_[static_cast<size_t>(index)];
  of_method.method = method;
  const std::vector<Route> of_each = OfEachListener(of_method);
  return std::any_of(matches_.begin(), matches_.begin() + std::min(index, kMaxCompared),
                     [&](const std::optional<Route>& earlier) {
                       return !earlier.has_value() || CoversAll(*earlier, of_each);
                     });
}

// Returns a method, or a glob, that gets this route, should run once by its name, and is not
// described as idempotent. Empty if there is none.
std::string Warnings::MethodThatActsOnce(int index) const {
  const v1::Route& route = config_.routes(index);
  const std::string& glob = route.match().method();
  bool described = false;
  if (const DescribedMethods* const methods = MethodsOf(route); methods != nullptr) {
    for (const std::string& method : methods->all) {
      if (!GlobMatch(glob, method)) continue;
      described = true;
      if (ActsOnce(method) && !methods->idempotent.contains(method) &&
          !IsTakenBefore(index, method)) {
        return method;
      }
    }
  }
  return !described && ActsOnce(glob) ? glob : "";
}

void Warnings::CheckRepeats(int index) {
  const v1::Route& route = config_.routes(index);
  const auto policy = policies_.find(route.policy());
  if (policy == policies_.end() || !Knows(index, "upstream") || !Knows(index, "policy")) return;
  const auto upstream = upstreams_.find(route.upstream());
  if (upstream != upstreams_.end() &&
      !known_.KnowsAll(Element("upstreams", upstream->second), {"descriptor_set"})) {
    return;
  }
  // A policy that could be read shows whether it repeats calls, even if other fields are faulty.
  if (!known_.KnowsAll(Element("policies", policy->second),
                       {"retry.max_attempts", "retry.codes", "retry.http", "retry.failures",
                        "retry.rules", "retry.mode", "idempotency", "hedge"})) {
    return;
  }
  const std::string cause = UnsafeRetries(config_.policies(policy->second));
  if (cause.empty()) return;
  const std::string method = MethodThatActsOnce(index);
  if (method.empty()) return;
  const std::string path = Element("routes", index);
  const bool named = method == route.match().method();
  Add(path + (named ? ".match.method" : ".policy"), CheckCode::kUnsafeRetry,
      absl::StrCat("policy ", route.policy(), " may run ", method, " twice: retry.", cause,
                   " lets a call be retried after its request has left; give the policy ",
                   "idempotency: {mode: never} or a key, or {mode: always} if the method may run ",
                   "twice"));
}

// A route that takes all calls is for services that nobody has named, whose pods nobody can name.
void Warnings::CheckOriginal(int index) {
  const v1::Route& route = config_.routes(index);
  const auto upstream = upstreams_.find(route.upstream());
  const auto policy = policies_.find(route.policy());
  if (upstream == upstreams_.end() || policy == policies_.end()) return;
  const std::string path = Element("policies", policy->second);
  if (!Knows(index, "upstream") || !Knows(index, "policy") ||
      !known_.KnowsAll(path, {"retry.max_attempts", "retry.mode", "hedge"})) {
    return;
  }
  const auto& endpoints = config_.upstreams(upstream->second).endpoints();
  const v1::Retry& retry = config_.policies(policy->second).retry();
  const bool repeats = config_.policies(policy->second).has_hedge() ||
                       (retry.max_attempts() > 1 && retry.mode() != v1::Retry::MODE_OBSERVE);
  const bool takes_all = route.match().authority() == "*" && route.match().method() == "*";
  if (takes_all || !repeats || !absl::c_linear_search(endpoints, "original:")) return;
  Add(Element("routes", index) + ".upstream", CheckCode::kOneAddress,
      absl::StrCat(
          "\"original:\" is the one address that the application has dialled, so attempts "
          "of policy ",
          route.policy(),
          " after the first go there again, and behind a ClusterIP mostly to the same pod; "
          "name the pods by a headless service, as dns:cart-headless.shop:50051"));
}

// An operator who writes a timeout may have meant the streams, too, which no timeout ends.
void Warnings::CheckTimeout(int index) {
  const v1::Route& route = config_.routes(index);
  const auto policy = policies_.find(route.policy());
  const DescribedMethods* const methods = MethodsOf(route);
  if (policy == policies_.end() || methods == nullptr) return;
  if (!Knows(index, "upstream") || !Knows(index, "policy")) return;
  const std::string path = Element("policies", policy->second);
  const std::string& timeout = config_.policies(policy->second).timeout();
  if (!known_.KnowsAll(path, {"timeout", "stream"}) || timeout == "none" ||
      positions_.Has(path + ".stream.timeout") || warned_of_streams_.contains(path)) {
    return;
  }
  for (const std::string& method : methods->streams) {
    if (!GlobMatch(route.match().method(), method) || IsTakenBefore(index, method)) continue;
    warned_of_streams_.insert(path);
    Add(path + ".timeout", CheckCode::kTimeoutOfStreams,
        absl::StrCat("does not end ", method,
                     ", which is a stream by its descriptor; say how long ",
                     "streams may last by stream.timeout, or stream: {timeout: none}"));
    return;
  }
}

// Where the calls without the header are let in as well, it only says where they go.
void Warnings::CheckAllowByHeader(int index) {
  const Route& match = *matches_[static_cast<size_t>(index)];
  if (match.headers.empty() || match.peer != "*" || config_.routes(index).deny() ||
      match.listener.direction != Direction::kInbound) {
    return;
  }
  Route without = match;
  without.headers.clear();
  for (size_t i = static_cast<size_t>(index) + 1; i < matches_.size(); ++i) {
    if (config_.routes(static_cast<int>(i)).deny()) break;
    if (!matches_[i].has_value() || Covers(*matches_[i], without)) return;
  }
  Add(Element("routes", index) + ".match.headers", CheckCode::kAllowByHeader,
      "lets in whoever sends these headers, and callers write them as they like; say by match.peer "
      "who may call, or let the other calls in by a later route");
}

void Warnings::CheckPeerDemanded(int index) {
  const Route& match = *matches_[static_cast<size_t>(index)];
  if (match.peer == "*" || match.listener.index == ListenerRef::kNone) return;
  const v1::Listener& listener = config_.listeners(match.listener.index);
  if (listener.tls().client_certificate() != v1::ListenerTls::CLIENT_CERTIFICATE_OPTIONAL) return;
  Add(Element("routes", index) + ".match.peer", CheckCode::kPeerNotDemanded,
      absl::StrCat("listener ", listener.name(),
                   " lets callers in that show no certificate, whose ",
                   "name is empty, and later routes take their calls; say client_certificate: ",
                   "required"));
}

void Warnings::CheckRoutes() {
  for (int i = 0; i < config_.routes_size(); ++i) {
    if (!matches_[static_cast<size_t>(i)].has_value() || !CheckReach(i)) continue;
    CheckRepeats(i);
    CheckTimeout(i);
    CheckOriginal(i);
    CheckAllowByHeader(i);
    CheckPeerDemanded(i);
  }
}

// Whether it is known for every route to which upstream or policy it leads.
bool Warnings::KnowsTargets(const char* field) const {
  if (positions_.Broken("routes")) return false;
  // The built-in route needs an upstream that the file may have replaced.
  if (!positions_.Has("routes") && !known_.Knows("upstreams")) return false;
  for (int i = 0; i < config_.routes_size(); ++i) {
    if (!Knows(i, field) || !known_.KnowsNames(Element("routes", i))) return false;
  }
  return true;
}

void Warnings::CheckUse() {
  std::set<std::string> upstreams, policies;
  for (const v1::Route& route : config_.routes()) {
    for (const auto& [field, name] : UpstreamsOf(route)) upstreams.insert(name);
    policies.insert(route.policy());
    policies.insert(ShadowOf(route));
  }
  const bool leads_known = KnowsTargets("upstream") && KnowsTargets("split");
  for (int i = 0; i < config_.upstreams_size() && leads_known; ++i) {
    const std::string& name = config_.upstreams(i).name();
    if (upstreams.contains(name) || name.empty()) continue;
    Add(Element("upstreams", i) + ".name", CheckCode::kUnusedUpstream,
        absl::StrCat("no route leads to ", name, "; add one, or remove the upstream"));
  }
  for (int i = 0; i < config_.listeners_size() && KnowsTargets("match"); ++i) {
    const v1::Listener& listener = config_.listeners(i);
    const auto serves = [&](const v1::Route& route) { return Serves(route, listener); };
    if (std::any_of(config_.routes().begin(), config_.routes().end(), serves)) continue;
    Add(Element("listeners", i) + ".name", CheckCode::kUnusedListener,
        absl::StrCat(
            "no route takes the calls of ", listener.name(), ", so each fails; add one",
            IsInbound(listener) ? " with match: {listener: " + listener.name() + "}" : ""));
  }
  // Routes that come from the command line say nothing about the policies of a file.
  if (positions_.Find("routes").file == "--to" || !KnowsTargets("policy") ||
      !KnowsTargets("shadow")) {
    return;
  }
  for (int i = 0; i < config_.policies_size(); ++i) {
    const std::string path = Element("policies", i);
    const std::string& name = config_.policies(i).name();
    if (policies.contains(name) || name.empty() || !positions_.Has(path)) continue;
    Add(path + ".name", CheckCode::kUnusedPolicy,
        absl::StrCat("no route has policy ", name, "; add one, or remove the policy"));
  }
}

}  // namespace

void FindWarnings(const v1::Config& config, const Positions& positions,
                  const MethodsOfUpstreams& methods, const FaultList& faults, bool complete,
                  FaultList& warnings) {
  Warnings find(config, positions, methods, faults, warnings);
  find.CheckListeners();
  find.CheckAdmin("address", config.admin().address());
  find.CheckAdmin("grpc_address", config.admin().grpc_address());
  find.CheckUpstreams();
  find.CheckPolicies();
  find.CheckOverload();
  if (!complete || find.vague()) return;
  find.CheckRoutes();
  find.CheckUse();
}

}  // namespace levee
