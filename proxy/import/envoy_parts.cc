// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_parts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/envoy_rate_limit.h"

namespace levee::importer {
namespace {

// Bounds mappings and lists within each other. A bootstrap has about 15 levels; an alias to its own
// parent has more.
constexpr int kMaxDepth = 64;

bool HasAny(const Section& section, const std::vector<std::string_view>& keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&section](std::string_view key) { return section.Has(key); });
}

bool IsCluster(const Section& section) {
  return HasAny(section, {"load_assignment", "circuit_breakers", "lb_policy", "eds_cluster_config",
                          "connect_timeout"});
}

// Searched for only at the top: other parts of Envoy have retry policies too.
bool IsPartOfVirtualHost(const Section& section) {
  return HasAny(section,
                {"routes", "match", "retry_policy", "retry_on", "typed_per_filter_config"});
}

// Whether a reader does not miss this key.
bool SaysNothing(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys = {"@type",        "name",         "stat_prefix",
                                                     "codec_type",   "version_info", "last_updated",
                                                     "client_status"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// The position of the search.
struct Depth {
  int levels = 0;
  bool top = true;  // the whole text, or an element of the list that it is

  Depth Below(bool list) const { return {levels + 1, levels == 0 && list}; }
};

class Search {
 public:
  explicit Search(Source& source) : source_(source) {}

  EnvoyParts Run(const std::vector<Item>& roots);

 private:
  // Each function returns whether it found a part. Keys that were not read are noted only beside a
  // part that was found.
  bool Look(const Item& item, Depth depth);
  bool LookIntoList(const Item& list, Depth depth);
  bool LookIntoSection(Section section, Depth depth);

  bool Take(const Section& section, bool top);
  bool IsToBeTaken(Section& section);
  void TakeRouteConfiguration(Section section);
  void TakeVirtualHost(Section section, bool any_port) {
    parts_.virtual_hosts.push_back({std::move(section), groups_, any_port, limit_, services_});
  }
  std::optional<Field<RateLimitDraft>> FindLimit(Section& section, bool top,
                                                 std::vector<std::string>& rest);
  void NoteServicesWithoutRoutes(size_t first);

  Source& source_;
  EnvoyParts parts_;
  int groups_ = 0;                           // route configurations so far
  std::set<std::string> taken_;              // their meanings
  Field<RateLimitDraft> limit_;              // of the filters around the search
  std::vector<EnvoyLimitService> services_;  // that these ask
  std::vector<std::string> unread_;
};

EnvoyParts Search::Run(const std::vector<Item>& roots) {
  for (const Item& root : roots) {
    if (Look(root, {}) || source_.faulty()) continue;
    source_.Refuse(root.place,
                   "has nothing to import: no virtual hosts, routes, clusters, retry policy or "
                   "local rate limit");
  }
  if (!unread_.empty()) {
    parts_.notes.push_back(absl::StrCat("Not read: ", absl::StrJoin(unread_, ", "), "."));
  }
  return std::move(parts_);
}

bool Search::Look(const Item& item, Depth depth) {
  if (depth.levels > kMaxDepth) source_.Refuse(item.place, "is nested too deeply");
  if (source_.faulty()) return false;
  if (item.node.IsSequence()) return LookIntoList(item, depth);
  if (!item.node.IsMap()) return false;
  std::optional<Section> section = source_.AsSection(item);
  return section.has_value() && LookIntoSection(*std::move(section), depth);
}

bool Search::LookIntoList(const Item& list, Depth depth) {
  bool found = false;
  std::vector<std::string> rest;
  for (const Item& element : source_.AsList(list)) {
    if (Look(element, depth.Below(true))) {
      found = true;
    } else {
      rest.push_back(element.place.path);
    }
  }
  if (found) unread_.insert(unread_.end(), rest.begin(), rest.end());
  return found;
}

bool Search::LookIntoSection(Section section, Depth depth) {
  if (Take(section, depth.top)) return true;
  const Field<RateLimitDraft> around = limit_;
  const std::vector<EnvoyLimitService> services_around = services_;
  const size_t hosts = parts_.virtual_hosts.size();
  std::vector<std::string> rest;
  const std::optional<Field<RateLimitDraft>> limit = FindLimit(section, depth.top, rest);
  limit_ = limit.value_or(around);
  bool found = limit.has_value();
  for (const std::string& key : section.Left()) {
    const std::optional<Item> item = section.Get(key);
    if (Look(*item, depth.Below(false))) {
      found = true;
    } else if (!SaysNothing(key)) {
      rest.push_back(item->place.path);
    }
  }
  if (limit.has_value() && parts_.virtual_hosts.size() == hosts) {
    // The routes come from elsewhere.
    const YAML::Node nothing(YAML::NodeType::Map);
    TakeVirtualHost(*source_.AsSection({nothing, section.place()}), false);
  }
  if (parts_.virtual_hosts.size() == hosts) NoteServicesWithoutRoutes(services_around.size());
  limit_ = around;
  services_ = services_around;
  if (found) unread_.insert(unread_.end(), rest.begin(), rest.end());
  return found;
}

// The routes that say by which keys they are asked come from elsewhere. `first`: of those to note.
void Search::NoteServicesWithoutRoutes(size_t first) {
  for (size_t i = first; i < services_.size(); ++i) {
    parts_.notes.push_back(absl::StrCat(
        "A filter asks a rate limit service (cluster ", Quoted(services_[i].cluster), ", domain ",
        Quoted(services_[i].service.domain),
        "), and its routes, which say by which keys, are not in the file. Write a rate_limit with "
        "scope: rls for them."));
  }
}

// Imports `section` if it is one of the parts; returns whether it is.
bool Search::Take(const Section& section, bool top) {
  if (section.Has("virtual_hosts")) {
    TakeRouteConfiguration(section);
  } else if (section.Has("domains") || (top && IsPartOfVirtualHost(section))) {
    TakeVirtualHost(section, false);
  } else if (IsCluster(section)) {
    parts_.clusters.push_back(section);
  } else {
    return false;
  }
  return true;
}

// A config dump has a static route configuration with its listener, and again among the routes. One
// of Istio's for calls to the application has a name that says so.
bool Search::IsToBeTaken(Section& section) {
  const std::string name = section.Text("name").value_or("");
  if (name.starts_with("inbound|")) {
    parts_.notes.push_back(absl::StrCat("Not read: route configuration ", Quoted(name),
                                        ", which is for calls to the application."));
    return false;
  }
  return taken_.insert(section.Meaning()).second;
}

void Search::TakeRouteConfiguration(Section section) {
  if (!IsToBeTaken(section)) return;
  const bool any_port = section.Flag("ignore_port_in_host_matching").value_or(false);
  const Field<RateLimitDraft> around = limit_;
  limit_ = ReadOwnRateLimit(section, parts_.notes).value_or(around);
  for (Section& host : section.Maps("virtual_hosts")) TakeVirtualHost(std::move(host), any_port);
  ++groups_;
  limit_ = around;
  section.Ignore({"name", "@type"});
  AddNote(section.Unread(), parts_.notes);
}

// Returns the local rate limit that `section` is, or has among its filters. The services that its
// filters ask are added to services_. The names of other filters go to `rest`.
std::optional<Field<RateLimitDraft>> Search::FindLimit(Section& section, bool top,
                                                       std::vector<std::string>& rest) {
  std::optional<Field<RateLimitDraft>> limit;
  if (top && section.Has("token_bucket")) {
    limit = ReadLocalRateLimit(section);
    section.Ignore(section.Left());
  } else {
    limit = ReadRateLimitFilter(section);
  }
  for (Section& filter : section.Maps("http_filters")) {
    std::optional<Field<RateLimitDraft>> read = ReadRateLimitFilter(filter);
    const std::string name = filter.Text("name").value_or("");
    if (read.has_value()) {
      limit = std::move(read);
    } else if (std::optional<EnvoyLimitService> service = ReadLimitServiceFilter(filter);
               service.has_value()) {
      services_.push_back(*std::move(service));
    } else if (!name.ends_with(".router")) {
      rest.push_back(absl::StrCat(filter.place().path, " (", Quoted(name), ")"));
    }
  }
  return limit;
}

}  // namespace

EnvoyParts FindEnvoyParts(Source& source, const std::vector<Item>& roots) {
  return Search(source).Run(roots);
}

}  // namespace levee::importer
