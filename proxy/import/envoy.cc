// SPDX-License-Identifier: Apache-2.0
// Imports an Envoy configuration as a policy.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/draft.h"
#include "import/draft_writer.h"
#include "import/envoy_cluster.h"
#include "import/envoy_domains.h"
#include "import/envoy_parts.h"
#include "import/envoy_rate_limit.h"
#include "import/envoy_retry_policy.h"
#include "import/envoy_route.h"
#include "import/import.h"
#include "import/policy_table.h"
#include "import/route_fit.h"
#include "import/source.h"

namespace levee {
namespace importer {
namespace {

constexpr size_t kMaxEnvoyRoutes = 10'000;

class EnvoyImport {
 public:
  ImportedPolicy Run(const std::vector<ConfigText>& texts);

 private:
  void ReadClusters(std::vector<Section> sections);
  void ReadVirtualHost(VirtualHostPart part);
  EnvoyRouteDefaults ReadDefaults(VirtualHostPart& part, Notes& notes);
  void FindServices(VirtualHostPart& part, EnvoyRouteDefaults& defaults);
  void AddRoute(EnvoyRoute read, std::vector<RouteDraft>& routes);
  RouteDraft AddRouteWithout(const EnvoyRouteDefaults& defaults);
  void AddVirtualHost(VirtualHostPart& part, std::vector<RouteDraft> routes, Notes notes);
  void AddRoutesToClusters();
  std::string UpstreamFor(const std::string& cluster);
  void AddNotes();

  Source source_{Keys::kSnakeCase};
  std::map<std::string, ClusterDraft> clusters_;  // by name
  std::vector<std::string> cluster_names_;        // in the order of the file
  std::map<std::string, std::string> upstreams_;  // those of the draft, by cluster
  Names upstream_names_{{"none", kNowhere}};
  EnvoyDomains domains_;
  Draft draft_;
  // Routes without a name share a policy if they lead to the same upstream.
  PolicyTable policies_{draft_.policies, {kNoRetries}};
  int sources_ = 0;  // routes of the file so far
};

ImportedPolicy EnvoyImport::Run(const std::vector<ConfigText>& texts) {
  draft_.notes.push_back(TitleOf("Envoy configuration", FileOf(texts)));
  std::vector<Item> roots;
  for (const ConfigText& text : texts) {
    std::optional<Item> root = source_.Parse(text);
    if (root.has_value()) roots.push_back(*std::move(root));
  }
  if (roots.size() == texts.size()) {
    EnvoyParts parts = FindEnvoyParts(source_, roots);
    ReadClusters(std::move(parts.clusters));
    for (VirtualHostPart& part : parts.virtual_hosts) ReadVirtualHost(std::move(part));
    if (!source_.faulty()) draft_.routes = domains_.Join();
    AddRoutesToClusters();
    FitRoutes(source_, draft_);
    AddNotes();
    draft_.notes.insert(draft_.notes.end(), parts.notes.begin(), parts.notes.end());
  }
  return Finish(source_, draft_);
}

// A config dump has a static cluster in the bootstrap, and again among the clusters.
void EnvoyImport::ReadClusters(std::vector<Section> sections) {
  for (Section& section : sections) {
    const Place place = section.place();
    ClusterDraft cluster = ReadEnvoyCluster(std::move(section));
    const std::string name = cluster.upstream.name;
    const auto [first, is_new] = clusters_.emplace(name, cluster);
    if (is_new) {
      cluster_names_.push_back(name);
    } else if (!SameCluster(first->second, cluster)) {
      source_.Refuse(place, absl::StrCat("there are two clusters named ", Quoted(name),
                                         ", which are not the same"));
    }
  }
}

EnvoyRouteDefaults EnvoyImport::ReadDefaults(VirtualHostPart& part, Notes& notes) {
  EnvoyRouteDefaults defaults;
  Section& section = part.section;
  defaults.rate_limit = ReadOwnRateLimit(section, notes).value_or(part.limit);
  FindServices(part, defaults);
  defaults.rate_limits = section.Maps("rate_limits");
  if (defaults.services.empty()) NoteRateLimits(defaults.rate_limits, notes);
  defaults.buffer_bytes = section.Whole("per_request_buffer_limit_bytes");
  if (section.Has("retry_on")) {  // A retry policy alone.
    defaults.retry = ReadEnvoyRetryPolicy(section);
    section.Ignore(section.Left());
  } else if (std::optional<Section> policy = section.Map("retry_policy"); policy.has_value()) {
    defaults.retry = ReadEnvoyRetryPolicy(*std::move(policy));
  }
  return defaults;
}

// Of the services that the filters around the part ask, those of which the file tells the address.
void EnvoyImport::FindServices(VirtualHostPart& part, EnvoyRouteDefaults& defaults) {
  for (EnvoyLimitService& service : part.services) {
    const std::string why = FindServiceAddress(clusters_, service);
    if (why.empty()) {
      defaults.services.push_back(std::move(service));
      continue;
    }
    std::string note = absl::StrCat("A rate limit service is asked (domain ",
                                    Quoted(service.service.domain), "), which is left out. ", why);
    if (std::find(draft_.notes.begin(), draft_.notes.end(), note) == draft_.notes.end()) {
      draft_.notes.push_back(std::move(note));
    }
  }
}

void EnvoyImport::ReadVirtualHost(VirtualHostPart part) {
  Section& section = part.section;
  Notes notes;
  std::vector<RouteDraft> routes;
  if (section.Has("match")) {  // A route alone.
    AddRoute(ReadEnvoyRoute(section, {}), routes);
    section.Ignore(section.Left());
  } else {
    const EnvoyRouteDefaults defaults = ReadDefaults(part, notes);
    for (Section& route : section.Maps("routes")) {
      AddRoute(ReadEnvoyRoute(std::move(route), defaults), routes);
    }
    if (!section.Has("routes") && !section.Has("domains")) {
      routes.push_back(AddRouteWithout(defaults));
    }
  }
  AddVirtualHost(part, std::move(routes), std::move(notes));
}

// Adds a route for a part that has no route around it.
RouteDraft EnvoyImport::AddRouteWithout(const EnvoyRouteDefaults& defaults) {
  RouteDraft route;
  route.notes.emplace_back("The file has no route for this; it takes every call.");
  route.upstream = UpstreamFor("");
  route.policy = policies_.NameFor(RulesWithoutRoute(defaults), "imported");
  return route;
}

// Adds a route for each glob of its methods.
void EnvoyImport::AddRoute(EnvoyRoute read, std::vector<RouteDraft>& routes) {
  RouteDraft route = std::move(read.route);
  route.source = sources_++;
  if (!read.never.empty()) {
    route.left_out = true;
    route.notes.push_back(absl::StrCat("Left out, since no gRPC call has ", read.never, "."));
    routes.push_back(std::move(route));
    return;
  }
  if (read.forwards) {
    const auto cluster = clusters_.find(read.cluster);
    if (cluster != clusters_.end()) read.rules.retry.budget = cluster->second.budget;
    route.upstream = UpstreamFor(read.cluster);
    route.policy = policies_.NameFor(std::move(read.rules),
                                     read.policy_name.empty() ? route.upstream : read.policy_name);
  }
  for (const std::string& glob : read.globs) {
    route.method = glob;
    routes.push_back(route);
    route.notes.clear();  // Once is enough for all globs.
  }
}

// Returns the name of the upstream for this cluster. The cluster's contents are added to the draft.
std::string EnvoyImport::UpstreamFor(const std::string& cluster) {
  const auto known = upstreams_.find(cluster);
  if (known != upstreams_.end()) return known->second;
  const auto read = clusters_.find(cluster);
  UpstreamDraft upstream = AnywhereUpstream();
  if (read != clusters_.end()) {
    upstream = read->second.upstream;
  } else if (!cluster.empty()) {
    upstream =
        StubUpstream(cluster, "The file does not have this cluster; name its endpoints here.");
  }
  upstream.name = upstream_names_.Next(upstream.name);
  if (upstream.name != cluster && !cluster.empty()) {
    upstream.notes.insert(upstream.notes.begin(), absl::StrCat("Cluster ", Quoted(cluster), "."));
  }
  upstreams_[cluster] = upstream.name;
  draft_.upstreams.push_back(std::move(upstream));
  return draft_.upstreams.back().name;
}

void EnvoyImport::AddVirtualHost(VirtualHostPart& part, std::vector<RouteDraft> routes,
                                 Notes notes) {
  std::vector<std::string> names = part.section.Texts("domains");
  if (!part.section.Has("domains")) names.emplace_back("*");
  part.section.Ignore({"name", "@type"});
  AddNote(part.section.Unread(), notes);
  if (!routes.empty()) {
    Notes& first = routes.front().notes;
    first.insert(first.begin(), notes.begin(), notes.end());
    notes.clear();
  }
  domains_.AddVirtualHost(part.group, names, part.any_port, std::move(routes), notes);
  draft_.notes.insert(draft_.notes.end(), notes.begin(), notes.end());
  if (domains_.route_count() > kMaxEnvoyRoutes) {
    part.section.Refuse(
        "routes", absl::StrCat("more than ", kMaxEnvoyRoutes, " routes, counted for each domain"));
  }
}

// For a file that has nothing but clusters.
void EnvoyImport::AddRoutesToClusters() {
  if (!domains_.empty()) return;
  for (const std::string& name : cluster_names_) {
    PolicyRules rules;
    rules.retry.max_attempts.value = 1;
    rules.retry.budget = clusters_[name].budget;
    RouteDraft route;
    route.upstream = UpstreamFor(name);
    route.policy = policies_.NameFor(std::move(rules), route.upstream);
    route.left_out = name != cluster_names_.front();
    route.notes.push_back(
        absl::StrCat("The file has no routes; say which calls go to ", route.upstream, "."));
    draft_.routes.push_back(std::move(route));
  }
}

void EnvoyImport::AddNotes() {
  std::vector<std::string> unused;
  std::set<std::string> used;
  for (const UpstreamDraft& upstream : draft_.upstreams) used.insert(upstream.name);
  for (const std::string& name : cluster_names_) {
    const auto upstream = upstreams_.find(name);
    if (upstream == upstreams_.end() || !used.contains(upstream->second)) {
      unused.push_back(Quoted(name));
    }
  }
  if (!unused.empty()) {
    draft_.notes.push_back(absl::StrCat(
        "Left out: clusters that no route here leads to: ", absl::StrJoin(unused, ", "), "."));
  }
  if (domains_.groups() > 1) {
    draft_.notes.emplace_back(
        "There are several route configurations. Levee has one list of routes, in which the first "
        "that matches wins.");
  }
  bool retries = false, unbounded = false, timeouts = false, limits = false, services = false;
  for (const PolicyDraft& policy : draft_.policies) {
    retries |= Retries(policy.rules);
    unbounded |= Retries(policy.rules) && !policy.rules.retry.budget.value.has_value();
    timeouts |= policy.rules.timeout.value.has_value();
    for (const RateLimitDraft& limit :
         policy.rules.rate_limit.value.value_or(std::vector<RateLimitDraft>())) {
      (limit.service.has_value() ? services : limits) = true;
    }
  }
  if (timeouts) {
    draft_.policy_notes.emplace_back(
        "timeout: Envoy counts it from the end of the request, Levee from its beginning. Calls "
        "that stream for longer want none.");
  }
  if (limits) {
    draft_.policy_notes.emplace_back(
        "rate_limit: Envoy adds its tokens at each fill_interval, Levee evenly; each policy has "
        "its "
        "own bucket. What is refused gets RESOURCE_EXHAUSTED and when to come again.");
  }
  if (services) {
    draft_.policy_notes.emplace_back(
        "rate_limit with scope: rls: Envoy asks its rate limit service for each call and sends all "
        "descriptors at once, Levee leases permits of each limit in batches.");
  }
  if (!retries) return;
  draft_.notes.emplace_back(
      "Levee does not read x-envoy-retry-on, x-envoy-max-retries and the other headers by which "
      "calls change Envoy's policy.");
  NoteRetrying("Envoy", draft_.policy_notes);
  if (unbounded) {
    draft_.policy_notes.emplace_back(
        "budget: without retry_budget Envoy bounds the retries under way (max_retries, or 3 for a "
        "cluster); Levee allows 1 retry per 10 calls.");
  }
  draft_.honor.value = {"levee", "error_info", "pushback", "envoy"};
  draft_.honor.notes.emplace_back("Envoy never retries an answer that has x-envoy-overloaded.");
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportEnvoy(const std::vector<ConfigText>& texts) {
  return importer::EnvoyImport().Run(texts);
}

}  // namespace levee
