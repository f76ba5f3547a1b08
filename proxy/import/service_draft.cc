// SPDX-License-Identifier: Apache-2.0
#include "import/service_draft.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "config/addresses.h"
#include "config/fault.h"
#include "import/attempts.h"
#include "import/route_fit.h"

namespace levee::importer {
namespace {

// Below the rank of any method.
constexpr MethodRank kInOrder = {std::numeric_limits<int>::min(), 0, 0};

// Above the rank of any method.
constexpr MethodRank kLast = {std::numeric_limits<int>::max(), 0, 0};

constexpr size_t kMaxRoutes = 10'000;

// `conditions`: how many there are besides.
MethodRank RankMethod(const std::string& glob, size_t conditions) {
  const int more = -static_cast<int>(conditions);
  const size_t slash = glob.rfind('/');
  if (slash == std::string::npos || slash == 0) return {0, 0, more};
  const std::string service = glob.substr(1, slash - 1);
  const std::string method = glob.substr(slash + 1);
  return {service == "*" ? 0 : -static_cast<int>(service.size()),
          method == "*" ? 0 : -static_cast<int>(method.size()), more};
}

// A namespace that is a number makes no name of DNS if it comes last.
std::string EndpointOf(const ServicePort& service) {
  const auto named = [&service](const char* end) {
    return absl::StrCat("dns:", service.Host(), end, ":", service.port);
  };
  return ParseEndpoint(named("")).ok() ? named("") : named(".svc");
}

bool IsPolicy(const Draft& draft, const std::string& name) {
  return name == "default" ||
         std::any_of(draft.policies.begin(), draft.policies.end(),
                     [&name](const PolicyDraft& policy) { return policy.name == name; });
}

}  // namespace

std::vector<HostGlob> AnyPort(const std::string& host) {
  if (host == "*") return {{host, host}};
  return {{host, host}, {host, host + ":*"}};
}

std::vector<HostGlob> GlobsOf(const ServicePort& service) {
  std::vector<HostGlob> globs;
  const std::vector<const char*> ends =
      service.ns.empty() ? std::vector<const char*>{""}
                         : std::vector<const char*>{"", ".svc", ".svc.cluster.local"};
  for (const char* end : ends) {
    const std::string host = service.Host() + end;
    if (service.port == 0) {
      for (HostGlob& glob : AnyPort(host)) globs.push_back(std::move(glob));
    } else {
      globs.push_back({host, absl::StrCat(host, ":", service.port)});
    }
  }
  return globs;
}

const ServiceSettings* ServiceDraft::Find(const ServicePort& service) const {
  const auto found = settings_.find({service.ns, service.name, 0});
  return found == settings_.end() ? nullptr : &found->second;
}

std::string ServiceDraft::UpstreamFor(const ServicePort& service) {
  const auto known = upstreams_.find(service);
  if (known != upstreams_.end()) return known->second;
  UpstreamDraft upstream = AnywhereUpstream();
  if (!service.name.empty()) upstream.name = upstream_names_.Next(service.name);
  if (service.port != 0) {
    upstream.endpoints.value = {EndpointOf(service)};
  }
  if (const ServiceSettings* settings = Find(service); settings != nullptr) {
    upstream.notes = settings->notes;
    upstream.connect_timeout = settings->connect_timeout;
    upstream.max_connection_age = settings->max_connection_age;
    upstream.tls = settings->tls;
    upstream.ejection = settings->ejection;
  }
  upstreams_[service] = upstream.name;
  draft_.upstreams.push_back(std::move(upstream));
  return draft_.upstreams.back().name;
}

std::string ServiceDraft::PolicyFor(ServiceRoute& route) {
  TryOnceIfChanged(route.unsaid, route.rules);
  const ServiceSettings* settings = Find(route.service);
  if (settings != nullptr && !route.rules.retry.budget.value)
    route.rules.retry.budget = settings->budget;
  if (route.rules == PolicyRules()) return "default";
  if (route.rules == OnceRules()) return kNoRetries;
  return policies_.NameFor(std::move(route.rules), route.like);
}

void ServiceDraft::Add(Source& source, ServiceRoute route) {
  const size_t more = route.hosts.size() * std::max<size_t>(route.match.globs.size(), 1);
  if (routes_.size() + more <= kMaxRoutes) {
    Add(std::move(route));
  } else if (!source.faulty()) {
    source.Refuse({source.files().front(), 0, 0, ""},
                  absl::StrCat("more than ", kMaxRoutes, " routes, counted for each host"));
  }
}

void ServiceDraft::Add(ServiceRoute route) {
  RouteDraft made;
  made.source = sources_++;
  made.place = std::move(route.place);
  made.notes = std::move(route.notes);
  made.notes.insert(made.notes.end(), route.match.notes.begin(), route.match.notes.end());
  made.unsaid = route.unsaid;
  std::vector<std::string>& conditions = made.unsaid.conditions;
  conditions.insert(conditions.end(), route.match.conditions.begin(), route.match.conditions.end());
  made.headers = route.match.headers;
  made.narrowed = route.narrowed || route.match.narrowed;
  if (!route.match.never.empty()) {
    made.left_out = true;
    made.notes.push_back(absl::StrCat("Left out, since no gRPC call has ", route.match.never, "."));
    route.match.globs = {"*"};
    if (route.hosts.size() > 1) route.hosts.resize(1);
  } else {
    if (made.unsaid.answers.empty()) made.upstream = UpstreamFor(route.service);
    made.policy = PolicyFor(route);
  }
  routed_.insert({route.service.ns, route.service.name, 0});
  for (const std::string& glob : route.match.globs) {
    made.method = glob;
    for (const HostGlob& host : route.hosts) {
      made.authority = host.authority;
      if (!route.annotated.empty()) annotated_.emplace_back(routes_.size(), route.annotated);
      routes_.push_back({RankDomain(host.host),
                         route.in_order
                             ? kInOrder
                             : RankMethod(made.method, made.headers.size() + conditions.size()),
                         made});
      made.notes.clear();  // Once is enough for all hosts.
    }
  }
}

void ServiceDraft::Close(const std::vector<HostGlob>& hosts, const std::string& object) {
  for (const HostGlob& host : hosts) {
    if (host.authority != "*") closed_.emplace(host.authority, std::pair{host, object});
  }
}

void ServiceDraft::AddClosings() {
  for (const auto& [authority, closed] : closed_) {
    const auto& [host, object] = closed;
    RouteDraft last;
    last.authority = authority;
    last.upstream = kNowhere;
    last.policy = kNoRetries;
    last.notes = {absl::StrCat("A call to a host of ", object,
                               " that none of its routes take has no route there. Here it fails at "
                               "once.")};
    routes_.push_back({RankDomain(host.host), kLast, std::move(last)});
  }
}

// Only now all policies are known. The file that has the policy of an annotation may come later.
void ServiceDraft::ResolveAnnotations() {
  for (const auto& [index, name] : annotated_) {
    RouteDraft& route = routes_[index].route;
    if (IsPolicy(draft_, name)) {
      route.policy = name;
    } else {
      route.notes.push_back(
          absl::StrCat("levee.dev/policy: ", Quoted(name),
                       " is no policy of this file. Define it and name it here in "
                       "place of ",
                       route.policy, "."));
    }
  }
}

void ServiceDraft::AddServicesWithoutRoute(const std::string& policy) {
  for (const auto& [service, settings] : settings_) {
    if (routed_.contains(service)) continue;
    ServiceRoute route;
    route.hosts = GlobsOf(service);
    route.service = service;
    route.like = service.name;
    if (policy == kNoRetries) route.rules.retry.max_attempts.value = 1;
    Add(std::move(route));
  }
}

Draft ServiceDraft::Finish(Source& source, const RestOfCalls& rest) {
  AddServicesWithoutRoute(rest.policy);
  ResolveAnnotations();
  AddClosings();
  std::stable_sort(routes_.begin(), routes_.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(a.domain, a.method) < std::tie(b.domain, b.method);
  });
  for (Ranked& ranked : routes_) draft_.routes.push_back(std::move(ranked.route));
  RouteDraft last;
  last.notes = {rest.note};
  last.upstream = UpstreamFor({});
  last.policy = rest.policy;
  draft_.routes.push_back(std::move(last));
  FitRoutes(source, draft_);
  return std::move(draft_);
}

}  // namespace levee::importer
