// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_route.h"

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
  std::string annotated;
  Notes notes;
};

std::string ReadNamespace(Section& section, const std::string& ns) {
  const std::string own = ReadObjectName(section, "namespace", false);
  return own.empty() ? ns : own;
}

// A route is attached to Gateways, where its host names count, or to Services.
void ReadParents(Section& spec, const std::string& ns, RouteParts& parts) {
  bool gateway = !spec.Has("parentRefs");
  for (Section& parent : spec.Maps("parentRefs")) {
    const std::string kind = parent.Text("kind").value_or("Gateway");
    ServicePort service{ReadNamespace(parent, ns), ReadObjectName(parent, "name", true), 0};
    if (kind == "Service") {
      service.port = ReadPort(parent, "port", false);
      for (HostGlob& glob : GlobsOf(service)) parts.hosts.push_back(std::move(glob));
    } else {
      gateway = true;
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

// Filters that change where a call goes, or whether it goes at all, leave the rule out.
void ReadFilters(Section& section, ServiceRoute& route) {
  std::vector<std::string> types;
  for (Section& filter : section.Maps("filters")) {
    const std::string type = filter.Text("type").value_or("");
    if (type == "RequestRedirect" || type == "URLRewrite" || type == "ExtensionRef" ||
        type == "ExternalAuth") {
      route.reasons.push_back(absl::StrCat("the filter ", Quoted(type)));
    } else {
      types.push_back(Quoted(type));
    }
  }
  if (types.empty()) return;
  route.notes.push_back(
      absl::StrCat("Filters have no equivalent: ", absl::StrJoin(types, ", "), "."));
}

// Reads where a rule's calls go. A backend with weight 0 gets none.
void ReadBackends(Section& rule, const std::string& ns, ServiceRoute& route) {
  std::vector<std::string> names;
  for (Section& backend : rule.Maps("backendRefs")) {
    const std::string kind = backend.Text("kind").value_or("Service");
    const ServicePort service{ReadNamespace(backend, ns), ReadObjectName(backend, "name", true),
                              ReadPort(backend, "port", kind == "Service")};
    const std::string group = backend.Text("group").value_or("");
    const int64_t weight = backend.Whole("weight").value_or(1);
    if (weight < 0) backend.Refuse("weight", "must not be negative");
    ReadFilters(backend, route);
    AddNote(backend.Unread(), route.notes);
    if (weight == 0) {
      route.notes.push_back(absl::StrCat("Left out: backend ", service.Host(), ", of weight 0."));
      continue;
    }
    if (kind != "Service" || (!group.empty() && group != "core")) {
      route.reasons.push_back(absl::StrCat("a backend of kind ", Quoted(kind)));
    }
    if (names.empty()) route.service = service;
    names.push_back(Quoted(absl::StrCat(service.Host(), ":", service.port)));
  }
  if (names.empty()) route.reasons.emplace_back("a rule that leads nowhere");
  if (names.size() > 1) {
    route.reasons.push_back(absl::StrCat("several backends (", absl::StrJoin(names, ", "), ")"));
  }
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
  route.annotated = parts.annotated;
  route.notes = {absl::StrCat("From ", object.kind, " ", object.ns, "/", object.name, ", ",
                              rule.ShortPath(), ", line ", rule.place().line, ".")};
  const std::string name = rule.Text("name").value_or("");
  route.like = name.empty() ? object.name : absl::StrCat(object.name, ".", name);
  std::vector<MethodMatch> matches = ReadMatches(rule, grpc);
  ReadFilters(rule, route);
  ReadBackends(rule, object.ns, route);
  if (!grpc) route.rules = ReadHttpRules(rule);
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
