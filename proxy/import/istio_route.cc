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

// The name of the gateway that all sidecars are.
constexpr char kMesh[] = "mesh";

// All routes of a VirtualService have these in common.
struct VirtualService {
  const KubeObject& object;
  const KnownPorts& ports;
  std::vector<ServicePort> hosts = {};
  std::vector<std::string> gateways = {};
};

// A match of one text: exactly, by its beginning, or by a regular expression.
void ReadUri(Section uri, MethodMatch& match) {
  const std::optional<std::string> exact = uri.Text("exact");
  const std::optional<std::string> prefix = uri.Text("prefix");
  const std::string literal = exact.value_or(prefix.value_or(""));
  const std::string glob = absl::StrCat(literal, exact.has_value() ? "" : "*");
  if (exact.has_value() || prefix.has_value()) {
    const bool star = literal.find('*') != std::string::npos;
    if (!star && ParseText(FieldRule::METHOD_GLOB, glob).ok()) {
      match.globs = {glob};
    } else {
      match.never = absl::StrCat("the path ", Quoted(literal));
    }
  } else {
    SetRegex(uri.Text("regex").value_or(""), match);
  }
  for (const std::string& key : uri.Left()) match.conditions.push_back(key);
}

void ReadHeaderMap(Section& section, MethodMatch& match) {
  std::optional<Section> headers = section.Map("headers");
  if (!headers.has_value()) return;
  for (const std::string& name : headers->Left()) {
    HeaderCondition header{.name = name};
    std::optional<Section> value = headers->Map(name);
    if (value.has_value() && value->Left().empty()) header.test = HeaderTest::kPresent;
    for (const auto& [key, test] : {std::pair{"exact", HeaderTest::kExact},
                                    {"prefix", HeaderTest::kPrefix},
                                    {"regex", HeaderTest::kRegex}}) {
      std::optional<std::string> text = value.has_value() ? value->Text(key) : std::nullopt;
      if (!text.has_value()) continue;
      header.test = test;
      header.value = *std::move(text);
    }
    if (value.has_value() && !value->Left().empty()) header.test.reset();
    AddHeader(header, match);
  }
}

// A match may be for the calls of some gateways; those of a sidecar come from "mesh".
void ReadGateways(Section& section, const std::vector<std::string>& gateways, MethodMatch& match) {
  const std::vector<std::string> own = section.Texts("gateways");
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  if (own.empty() || has(own, kMesh)) return;
  if (gateways.empty() || has(gateways, kMesh)) {
    match.never = "come through these gateways";
    return;
  }
  const bool all = std::all_of(gateways.begin(), gateways.end(),
                               [&](const std::string& gateway) { return has(own, gateway); });
  if (!all) match.conditions.emplace_back("gateways");
}

struct IstioMatch {
  MethodMatch method;
  int64_t port = 0;  // 0: any
};

IstioMatch ReadMatch(Section section, const std::vector<std::string>& gateways) {
  IstioMatch match;
  match.port = ReadPort(section, "port", false);
  std::optional<Section> uri = section.Map("uri");
  if (uri.has_value()) ReadUri(*std::move(uri), match.method);
  std::optional<Section> method = section.Map("method");
  if (method.has_value()) {
    const std::optional<std::string> exact = method->Text("exact");
    for (const std::string& key : method->Left()) match.method.conditions.push_back(key);
    if (exact.value_or("POST") != "POST") {
      match.method.never = absl::StrCat("the HTTP method ", Quoted(*exact));
    }
  }
  ReadHeaderMap(section, match.method);
  ReadGateways(section, gateways, match.method);
  if (section.Get("queryParams").has_value()) match.method.never = "a query";
  if (section.Flag("ignoreUriCase").value_or(false)) {
    match.method.narrowed = true;
    match.method.notes.emplace_back("ignoreUriCase: only methods spelled like this match.");
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

struct Destination {
  ServicePort service;
  int64_t weight = 0;  // of all its subsets
};

std::vector<Destination> ReadDestinations(Section& http, const VirtualService& parent,
                                          ServiceRoute& route) {
  std::vector<Destination> destinations;
  std::vector<std::string> subsets;
  for (Section& entry : http.Maps("route")) {
    std::optional<Section> section = entry.Map("destination");
    if (!section.has_value()) {
      entry.Refuse("destination", "must be given");
      continue;
    }
    ServicePort service = ServiceOf(ReadHostName(*section, "host", true), parent.object.ns);
    std::optional<Section> port = section->Map("port");
    if (port.has_value()) {
      service.port = ReadPort(*port, "number", true);
      AddNote(port->Unread(), route.notes);
    }
    if (service.port == 0) service.port = parent.ports.OnlyPortOf(service);
    const std::optional<std::string> subset = section->Text("subset");
    const int64_t weight = entry.Whole("weight").value_or(0);
    if (weight < 0) entry.Refuse("weight", "must not be negative");
    AddNote(section->Unread(), route.notes);
    AddNote(entry.Unread(), route.notes);
    if (subset.has_value()) subsets.push_back(Quoted(*subset));
    const auto known =
        std::find_if(destinations.begin(), destinations.end(),
                     [&service](const Destination& each) { return each.service == service; });
    if (known != destinations.end()) {
      known->weight += weight;
    } else {
      destinations.push_back({std::move(service), weight});
    }
  }
  if (!subsets.empty()) {
    route.notes.push_back(absl::StrCat("Subsets have no equivalent: ", absl::StrJoin(subsets, ", "),
                                       ". Calls go to all endpoints of the service."));
  }
  return destinations;
}

// Sets where a route's calls go. Subsets and shares of one service are calls to this service; of
// several services it is the one with the largest weight.
void ChooseDestination(std::vector<Destination> destinations, ServiceRoute& route) {
  if (destinations.size() > 1) {
    std::erase_if(destinations, [](const Destination& each) { return each.weight <= 0; });
  }
  if (destinations.empty()) return;
  const auto most = std::max_element(
      destinations.begin(), destinations.end(),
      [](const Destination& a, const Destination& b) { return a.weight < b.weight; });
  route.service = most->service;
  if (destinations.size() == 1) return;
  route.narrowed = true;
  route.notes.push_back(absl::StrCat(
      "Several destinations have no equivalent: ",
      absl::StrJoin(
          destinations, ", ",
          [](std::string* out, const auto& d) { absl::StrAppend(out, Shown(d.service)); }),
      ". All calls go to ", Shown(route.service), ", the first one with the largest weight."));
}

// A route may do more than lead calls somewhere.
void ReadActions(Section& http, ServiceRoute& route) {
  for (const char* key : {"redirect", "directResponse"}) {
    if (http.Get(key).has_value()) route.unsaid.answers.emplace_back(key);
  }
  if (http.Get("delegate").has_value()) route.unsaid.unknown.emplace_back("delegate");
  std::optional<Section> rewrite = http.Map("rewrite");
  if (!rewrite.has_value()) return;
  if (rewrite->Has("uri") || rewrite->Has("uriRegexRewrite")) {
    route.unsaid.changes.emplace_back("rewrite");
  } else {
    AddNote(rewrite->Unread(), route.notes);
  }
}

// Adds the route for each match, and in each for the hosts that lead to the same place. Where the
// port of a destination is not known, calls go where they say themselves, which is the destination
// if they say it.
void AddForHosts(const VirtualService& parent, std::vector<IstioMatch> matches, ServiceRoute route,
                 std::vector<ServiceRoute>& routes) {
  const bool unknown = route.service.port == 0 && !route.service.name.empty();
  std::string untold =
      absl::StrCat("The destination ", Shown(route.service),
                   " has no port: name its endpoints in the upstream. Until then calls to other "
                   "hosts go where they say themselves.");
  for (IstioMatch& match : matches) {
    std::vector<HostGlob> exact, others;
    for (ServicePort host : parent.hosts) {
      const bool elsewhere = unknown && host.Host() != route.service.Host();
      host.port = match.port;
      for (HostGlob& glob : GlobsOf(host)) (elsewhere ? others : exact).push_back(std::move(glob));
    }
    for (const bool elsewhere : {false, true}) {
      ServiceRoute part = route;
      part.hosts = elsewhere ? std::move(others) : std::move(exact);
      if (part.hosts.empty()) continue;
      part.match = match.method;
      part.narrowed = part.narrowed || elsewhere;
      if (elsewhere) AddNote(std::exchange(untold, ""), part.notes);
      routes.push_back(std::move(part));
      route.notes.clear();  // Once is enough for all matches.
    }
  }
}

void ReadHttp(Section http, const VirtualService& parent, Notes& shared,
              std::vector<ServiceRoute>& routes) {
  const KubeObject& object = parent.object;
  ServiceRoute route;
  route.in_order = true;
  route.place = http.place();
  const std::string name = http.Text("name").value_or("");
  route.like = name.empty() ? object.name : absl::StrCat(object.name, ".", name);
  route.notes = {absl::StrCat("From ", object.kind, " ", object.ns, "/", object.name, ", ",
                              http.ShortPath(), ", line ", http.place().line, ".")};
  std::vector<IstioMatch> matches;
  for (Section& match : http.Maps("match")) {
    matches.push_back(ReadMatch(std::move(match), parent.gateways));
  }
  if (matches.empty()) matches.emplace_back();  // Every call.
  ReadActions(http, route);
  ChooseDestination(ReadDestinations(http, parent, route), route);
  const bool leads =
      !route.service.name.empty() || !route.unsaid.answers.empty() || !route.unsaid.unknown.empty();
  if (!leads) route.unsaid.answers.emplace_back("a route that leads nowhere");
  route.rules = ReadIstioRules(http);
  AddNote(http.Unread(), route.notes);
  route.notes.insert(route.notes.end(), shared.begin(), shared.end());
  shared.clear();
  AddForHosts(parent, std::move(matches), std::move(route), routes);
}

// To Istio the calls to these hosts are bytes of a connection, which it does not retry.
ServiceRoute WithoutHttp(const VirtualService& parent, Notes notes) {
  ServiceRoute route;
  route.place = parent.object.place;
  for (const ServicePort& host : parent.hosts) {
    for (HostGlob& glob : GlobsOf(host)) route.hosts.push_back(std::move(glob));
  }
  route.rules = OnceRules();
  route.notes = std::move(notes);
  route.notes.insert(route.notes.begin(),
                     absl::StrCat("From ", parent.object.Label(),
                                  ", which has no http routes: calls go where they say themselves, "
                                  "and are tried once."));
  return route;
}

}  // namespace

void KnownPorts::Read(KubeObject& service) {
  if (!service.spec.has_value()) return;
  std::vector<int64_t>& ports = ports_[{service.ns, service.name, 0}];
  for (Section& port : service.spec->Maps("ports")) ports.push_back(ReadPort(port, "port", true));
}

int64_t KnownPorts::OnlyPortOf(const ServicePort& service) const {
  const auto found = ports_.find({service.ns, service.name, 0});
  return found == ports_.end() || found->second.size() != 1 ? 0 : found->second.front();
}

std::vector<ServiceRoute> ReadVirtualService(KubeObject& object, const KnownPorts& ports,
                                             Notes& notes) {
  std::vector<ServiceRoute> routes;
  if (!object.spec.has_value()) return routes;
  Section& spec = *object.spec;
  VirtualService read{object, ports};
  for (const Item& item : spec.List("hosts")) {
    const std::optional<std::string> host = spec.source().AsText(item);
    if (!host.has_value()) continue;
    if (!AuthorityGlob(*host).has_value()) {
      spec.source().Refuse(item.place, absl::StrCat(Quoted(*host), " is no host"));
    }
    read.hosts.push_back(ServiceOf(*host, object.ns));
  }
  if (read.hosts.empty()) {
    notes.push_back(absl::StrCat("Left out: ", object.Label(), ", which has no hosts."));
    return routes;
  }
  read.gateways = spec.Texts("gateways");
  std::vector<Section> https = spec.Maps("http");
  Notes shared;
  spec.Ignore({"exportTo"});
  AddNote(spec.Unread(), shared);
  for (Section& http : https) ReadHttp(std::move(http), read, shared, routes);
  if (https.empty()) routes.push_back(WithoutHttp(read, std::move(shared)));
  return routes;
}

}  // namespace levee::importer
