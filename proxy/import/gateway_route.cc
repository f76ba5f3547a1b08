// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_route.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/gateway_match.h"
#include "import/gateway_retry.h"

namespace levee::importer {
namespace {

// All rules of a route have these in common.
struct RouteParts {
  std::vector<HostGlob> hosts;
  std::vector<ObjectName> gateways;
  std::string annotated;
  Notes notes;
};

std::string ReadNamespace(Section& section, const std::string& ns) {
  const std::string own = ReadLabel(section, "namespace", false);
  return own.empty() ? ns : own;
}

// A route is attached to Gateways, where its host names count, or to Services.
void ReadParents(Section& spec, const std::string& ns, RouteParts& parts) {
  bool gateway = !spec.Has("parentRefs");
  for (Section& parent : spec.Maps("parentRefs")) {
    const std::string kind = parent.Text("kind").value_or("Gateway");
    if (kind == "Service") {
      ServicePort service{ReadNamespace(parent, ns), ReadLabel(parent, "name", true), 0};
      service.port = ReadPort(parent, "port", false);
      for (HostGlob& glob : GlobsOf(service)) parts.hosts.push_back(std::move(glob));
    } else {
      gateway = true;
      parts.gateways.push_back({ReadNamespace(parent, ns), parent.Text("name").value_or("")});
      parent.Ignore({"port"});
    }
    parent.Ignore({"group", "sectionName"});
    AddNote(parent.Unread(), parts.notes);
  }
  const std::vector<Item> names = spec.List("hostnames");
  if (!gateway) return;
  if (names.empty()) parts.hosts.push_back({"*", "*"});
  for (const Item& item : names) {
    const std::optional<std::string> name = spec.source().AsText(item);
    if (!name.has_value()) continue;
    const std::optional<std::string> glob = AuthorityGlob(*name);
    if (!glob.has_value() || absl::StrContains(*name, ':') || name->ends_with('*')) {
      spec.source().Refuse(item.place, absl::StrCat(Quoted(*name), " is no host name"));
      continue;
    }
    for (HostGlob& host : AnyPort(*glob)) parts.hosts.push_back(std::move(host));
  }
}

// A rewrite of the path makes the call one of another method.
bool RewritesPath(Section& filter) {
  std::optional<Section> rewrite = filter.Map("urlRewrite");
  return !rewrite.has_value() || rewrite->Has("path");
}

// Filters change a call, where it goes, or whether it goes at all.
void ReadFilters(Section& section, ServiceRoute& route) {
  std::vector<std::string> types;
  for (Section& filter : section.Maps("filters")) {
    const std::string type = filter.Text("type").value_or("");
    const std::string what = absl::StrCat("the filter ", Quoted(type));
    if (type == "RequestRedirect") {
      route.unsaid.answers.push_back(what);
    } else if (type == "ExternalAuth") {
      route.unsaid.unknown.push_back(what);
    } else if (type == "ExtensionRef" || (type == "URLRewrite" && RewritesPath(filter))) {
      route.unsaid.changes.push_back(what);
    } else {
      types.push_back(Quoted(type));
    }
  }
  if (types.empty()) return;
  route.notes.push_back(
      absl::StrCat("Filters have no equivalent: ", absl::StrJoin(types, ", "), "."));
}

struct Backend {
  ServicePort service;
  std::string kind;
  int64_t weight = 1;
};

Backend ReadBackend(Section& section, const std::string& ns, ServiceRoute& route) {
  Backend backend;
  backend.kind = section.Text("kind").value_or("Service");
  const std::string group = section.Text("group").value_or("");
  if (backend.kind == "Service" && !group.empty() && group != "core") backend.kind = group;
  const bool service = backend.kind == "Service" || backend.kind == "ServiceImport";
  backend.service = {
      ReadNamespace(section, ns),
      service ? ReadLabel(section, "name", true) : ReadObjectName(section, "name", true),
      ReadPort(section, "port", backend.kind == "Service")};
  backend.weight = section.Whole("weight").value_or(1);
  if (backend.weight < 0) section.Refuse("weight", "must not be negative");
  ReadFilters(section, route);
  AddNote(section.Unread(), route.notes);
  return backend;
}

// A backend of another kind than Service gets an upstream of its name, whose endpoints are to be
// named.
void LeadTo(Backend backend, ServiceRoute& route) {
  route.service = std::move(backend.service);
  if (backend.kind == "Service") return;
  if (backend.kind == "ServiceImport" && route.service.port != 0) {
    route.service = {"", absl::StrCat(route.service.Host(), ".svc.clusterset.local"),
                     route.service.port};
    return;
  }
  route.service.port = 0;
  route.narrowed = true;
  route.notes.push_back(absl::StrCat("Backends of the kind ", Quoted(backend.kind),
                                     " are not read: name the endpoints of the upstream. Until "
                                     "then calls go where they say themselves."));
}

// Reads where a rule's calls go. A backend with weight 0 gets none.
void ReadBackends(Section& rule, const std::string& ns, ServiceRoute& route) {
  std::vector<Backend> backends;
  std::vector<std::string> names;
  for (Section& section : rule.Maps("backendRefs")) {
    Backend backend = ReadBackend(section, ns, route);
    if (backend.weight == 0) {
      route.notes.push_back(
          absl::StrCat("Left out: backend ", backend.service.Host(), ", of weight 0."));
      continue;
    }
    names.push_back(Quoted(absl::StrCat(backend.service.Host(), ":", backend.service.port)));
    backends.push_back(std::move(backend));
  }
  if (backends.empty()) {
    if (route.unsaid.answers.empty())
      route.unsaid.answers.emplace_back("a rule that leads nowhere");
    return;
  }
  const auto most =
      std::max_element(backends.begin(), backends.end(),
                       [](const Backend& a, const Backend& b) { return a.weight < b.weight; });
  if (backends.size() > 1) {
    route.narrowed = true;
    route.notes.push_back(
        absl::StrCat("Several backends have no equivalent: ", absl::StrJoin(names, ", "),
                     ". All calls go to ", names[static_cast<size_t>(most - backends.begin())],
                     ", the first one with the largest weight."));
  }
  LeadTo(std::move(*most), route);
}

std::vector<MethodMatch> ReadMatches(Section& rule, bool grpc) {
  std::vector<MethodMatch> matches;
  for (Section& match : rule.Maps("matches")) {
    matches.push_back(grpc ? ReadGrpcMatch(std::move(match)) : ReadHttpMatch(std::move(match)));
  }
  if (matches.empty()) matches.emplace_back();  // Every call.
  return matches;
}

void ReadRule(Section rule, const KubeObject& object, const RouteParts& parts,
              std::vector<ServiceRoute>& routes) {
  const bool grpc = object.kind == "GRPCRoute";
  ServiceRoute route;
  route.hosts = parts.hosts;
  route.gateways = parts.gateways;
  route.place = rule.place();
  route.annotated = parts.annotated;
  route.notes = {absl::StrCat("From ", object.kind, " ", object.ns, "/", object.name, ", ",
                              rule.ShortPath(), ", line ", rule.place().line, ".")};
  const std::string name = rule.Text("name").value_or("");
  route.rule = name;
  route.like = name.empty() ? object.name : absl::StrCat(object.name, ".", name);
  std::vector<MethodMatch> matches = ReadMatches(rule, grpc);
  ReadFilters(rule, route);
  ReadBackends(rule, object.ns, route);
  route.rules = grpc ? OnceRules() : ReadHttpRules(rule);
  if (rule.Get("sessionPersistence").has_value()) {
    route.notes.emplace_back("sessionPersistence has no equivalent.");
  }
  AddNote(rule.Unread(), route.notes);
  if (routes.empty()) {
    route.notes.insert(route.notes.end(), parts.notes.begin(), parts.notes.end());
  }
  for (MethodMatch& match : matches) {
    route.match = std::move(match);
    routes.push_back(route);
    route.notes.clear();  // Once is enough for all matches.
  }
}

}  // namespace

std::vector<ServiceRoute> ReadGatewayRoute(KubeObject& object) {
  std::vector<ServiceRoute> routes;
  if (!object.spec.has_value()) return routes;
  Section& spec = *object.spec;
  RouteParts parts;
  if (object.annotations.has_value()) {
    parts.annotated = object.annotations->Text("levee.dev/policy").value_or("");
  }
  ReadParents(spec, object.ns, parts);
  std::vector<Section> rules = spec.Maps("rules");
  spec.Ignore({"useDefaultGateways"});
  AddNote(spec.Unread(), parts.notes);
  for (Section& rule : rules) ReadRule(std::move(rule), object, parts, routes);
  return routes;
}

}  // namespace levee::importer
