// SPDX-License-Identifier: Apache-2.0
#include "import/istio_route.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/values.h"
#include "import/istio_host.h"
#include "import/istio_retry.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

// A match of one text: exactly, by its beginning, or by a regular expression.
void ReadUri(Section uri, MethodMatch& match) {
  const std::optional<std::string> exact = uri.Text("exact");
  const std::optional<std::string> prefix = uri.Text("prefix");
  const std::string literal = exact.value_or(prefix.value_or(""));
  const std::string glob = absl::StrCat(literal, exact.has_value() ? "" : "*");
  if ((exact.has_value() || prefix.has_value()) && literal.find('*') == std::string::npos &&
      ParseText(FieldRule::METHOD_GLOB, glob).ok()) {
    match.glob = glob;
  } else if (exact.has_value() || prefix.has_value()) {
    match.conditions.push_back(absl::StrCat("the path ", Quoted(literal)));
  } else {
    match.conditions.push_back(
        absl::StrCat("the regular expression ", Quoted(uri.Text("regex").value_or(""))));
  }
  for (const std::string& key : uri.Left()) match.conditions.push_back(key);
}

struct IstioMatch {
  MethodMatch method;
  int64_t port = 0;  // 0: any
};

IstioMatch ReadMatch(Section section) {
  IstioMatch match;
  match.port = ReadPort(section, "port", false);
  std::optional<Section> uri = section.Map("uri");
  if (uri.has_value()) ReadUri(*std::move(uri), match.method);
  std::optional<Section> method = section.Map("method");
  if (method.has_value() && method->Text("exact").value_or("") != "POST") {
    match.method.conditions.emplace_back("a method of HTTP other than exact: POST");
  }
  section.Ignore({"name", "statPrefix"});
  for (const std::string& key : section.Left()) match.method.conditions.push_back(key);
  return match;
}

// Returns the text of a destination, for comments.
std::string Shown(const ServicePort& service) {
  return Quoted(service.port == 0 ? service.Host()
                                  : absl::StrCat(service.Host(), ":", service.port));
}

// Reads where a route's calls go. Subsets and shares of one service are calls to this service.
void ReadDestinations(Section& http, const KubeObject& object, ServiceRoute& route) {
  std::vector<ServicePort> services;
  std::vector<std::string> subsets;
  for (Section& entry : http.Maps("route")) {
    std::optional<Section> destination = entry.Map("destination");
    if (!destination.has_value()) {
      entry.Refuse("destination", "must be given");
      continue;
    }
    ServicePort service = ServiceOf(ReadObjectName(*destination, "host", true), object.ns);
    std::optional<Section> port = destination->Map("port");
    if (port.has_value()) service.port = ReadPort(*port, "number", true);
    const std::optional<std::string> subset = destination->Text("subset");
    const int64_t weight = entry.Whole("weight").value_or(1);
    if (weight < 0) entry.Refuse("weight", "must not be negative");
    AddNote(destination->Unread(), route.notes);
    AddNote(entry.Unread(), route.notes);
    if (subset.has_value()) subsets.push_back(Quoted(*subset));
    const bool known = std::find(services.begin(), services.end(), service) != services.end();
    if (weight > 0 && !known) services.push_back(std::move(service));
  }
  if (!subsets.empty()) {
    route.notes.push_back(absl::StrCat("Subsets have no equivalent: ", absl::StrJoin(subsets, ", "),
                                       ". Calls go to all endpoints of the service."));
  }
  if (!services.empty()) route.service = services.front();
  if (services.size() > 1) {
    route.reasons.push_back(absl::StrCat(
        "several destinations (",
        absl::StrJoin(services, ", ",
                      [](std::string* out, const auto& s) { absl::StrAppend(out, Shown(s)); }),
        ")"));
  }
}

// A destination without a port is that port of the service which the call was for. That needs no
// endpoint if the call was for this service.
void CheckPort(const std::vector<ServicePort>& hosts, ServiceRoute& route) {
  if (route.service.name.empty() || route.service.port != 0) return;
  const bool same = std::all_of(hosts.begin(), hosts.end(), [&route](const ServicePort& host) {
    return host.Host() == route.service.Host();
  });
  if (!same) {
    route.reasons.push_back(
        absl::StrCat("the destination ", Shown(route.service), " without a port"));
  }
}

void ReadHttp(Section http, const KubeObject& object, const std::vector<ServicePort>& hosts,
              Notes& shared, std::vector<ServiceRoute>& routes) {
  ServiceRoute route;
  route.in_order = true;
  const std::string name = http.Text("name").value_or("");
  route.like = name.empty() ? object.name : absl::StrCat(object.name, ".", name);
  route.notes = {absl::StrCat("From ", object.kind, " ", object.ns, "/", object.name, ", ",
                              http.ShortPath(), ", line ", http.place().line, ".")};
  std::vector<IstioMatch> matches;
  for (Section& match : http.Maps("match")) matches.push_back(ReadMatch(std::move(match)));
  if (matches.empty()) matches.emplace_back();  // Every call.
  for (const char* key : {"redirect", "directResponse", "delegate", "rewrite"}) {
    if (http.Get(key).has_value()) route.reasons.emplace_back(key);
  }
  ReadDestinations(http, object, route);
  if (route.service.name.empty() && route.reasons.empty()) {
    route.reasons.emplace_back("a route that leads nowhere");
  }
  CheckPort(hosts, route);
  route.rules = ReadIstioRules(http);
  AddNote(http.Unread(), route.notes);
  route.notes.insert(route.notes.end(), shared.begin(), shared.end());
  shared.clear();
  for (IstioMatch& match : matches) {
    route.match = std::move(match.method);
    route.hosts.clear();
    for (ServicePort host : hosts) {
      host.port = match.port;
      for (HostGlob& glob : GlobsOf(host)) route.hosts.push_back(std::move(glob));
    }
    routes.push_back(route);
    route.notes.clear();  // Once is enough for all matches.
  }
}

}  // namespace

std::vector<ServiceRoute> ReadVirtualService(KubeObject& object) {
  std::vector<ServiceRoute> routes;
  if (!object.spec.has_value()) return routes;
  Section& spec = *object.spec;
  std::vector<ServicePort> hosts;
  for (const Item& item : spec.List("hosts")) {
    const std::optional<std::string> host = spec.source().AsText(item);
    if (!host.has_value()) continue;
    if (!AuthorityGlob(*host).has_value()) {
      spec.source().Refuse(item.place, absl::StrCat(Quoted(*host), " is no host"));
    }
    hosts.push_back(ServiceOf(*host, object.ns));
  }
  if (hosts.empty()) spec.Refuse("hosts", "must be given");
  std::vector<Section> https = spec.Maps("http");
  Notes shared;
  spec.Ignore({"exportTo"});
  AddNote(spec.Unread(), shared);
  for (Section& http : https) ReadHttp(std::move(http), object, hosts, shared, routes);
  return routes;
}

}  // namespace levee::importer
