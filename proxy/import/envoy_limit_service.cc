// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_limit_service.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/host_port.h"
#include "config/rate_limit_text.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

// Envoy's default, and the bounds of a limit's timeout.
constexpr absl::Duration kDefaultLimitTimeout = absl::Milliseconds(20);
constexpr absl::Duration kShortestTimeout = absl::Milliseconds(1);
constexpr absl::Duration kLongestTimeout = absl::Seconds(10);

bool IsLimitServiceFilter(const std::string& name) {
  return name == "envoy.filters.http.ratelimit" || name == "envoy.rate_limit";
}

// Reads the actions of one of rate_limits as the parts of a key.
class Actions {
 public:
  explicit Actions(std::string cluster) : cluster_(std::move(cluster)) {}

  void Read(Section action);

  std::vector<std::string> parts;
  std::vector<std::string> missing;  // what has no equivalent
  std::vector<std::string> headers;  // without which Envoy does not ask

 private:
  // `part` as it stands in a key.
  void Add(const std::string& entry, const std::string& part, const std::string& what);
  void AddHeader(Section header);

  const std::string cluster_;
};

void Actions::Add(const std::string& entry, const std::string& part, const std::string& what) {
  const absl::StatusOr<RateLimitKey> key = ParseRateLimitKey(absl::StrCat(entry, "=", part));
  // The same part twice says no more, but would be another descriptor.
  const bool twice = key.ok() && std::find(parts.begin(), parts.end(), key->name()) != parts.end();
  if (!key.ok() || twice) {
    missing.push_back(absl::StrCat(what, " (", Quoted(entry), ")"));
  } else {
    parts.push_back(key->name());
  }
}

void Actions::AddHeader(Section header) {
  const std::string name = header.Text("header_name").value_or("");
  const std::string entry = header.Text("descriptor_key").value_or("");
  header.Ignore({"skip_if_absent"});
  if (name == ":path") {
    Add(entry, "method", "request_headers");
  } else if (name == ":authority" || absl::EqualsIgnoreCase(name, "host")) {
    Add(entry, "authority", "request_headers");
  } else if (name == ":method") {
    Add(entry, "text:POST", "request_headers");
  } else {
    Add(entry, absl::StrCat("header:", name), "request_headers");
    headers.push_back(name);
  }
  for (const std::string& key : header.Left()) missing.push_back("request_headers." + key);
}

void Actions::Read(Section action) {
  if (std::optional<Section> header = action.Map("request_headers"); header.has_value()) {
    AddHeader(*std::move(header));
  } else if (std::optional<Section> key = action.Map("generic_key"); key.has_value()) {
    Add(key->Text("descriptor_key").value_or("generic_key"),
        absl::StrCat("text:", key->Text("descriptor_value").value_or("")), "generic_key");
    for (const std::string& more : key->Left()) missing.push_back("generic_key." + more);
  } else if (!cluster_.empty() && action.Get("destination_cluster").has_value()) {
    Add("destination_cluster", absl::StrCat("text:", cluster_), "destination_cluster");
  }
  for (const std::string& more : action.Left()) missing.push_back(more);
}

// Finds what else a rate limit has that changes its meaning.
void FindConditions(Section& limit, std::vector<std::string>& missing) {
  for (const char* key : {"disable_key", "limit", "hits_addend", "apply_on_stream_done"}) {
    if (limit.Get(key).has_value()) missing.emplace_back(key);
  }
}

std::string WhyLeftOut(const Section& limit, const Actions& actions) {
  const std::string missing =
      actions.missing.empty() ? "no actions" : absl::StrJoin(actions.missing, ", ");
  const std::string rest =
      actions.parts.empty() ? ""
                            : absl::StrCat(" The rest is the key ", YamlList(actions.parts), ".");
  return absl::StrCat(limit.ShortPath(), " is left out, since this has no equivalent: ", missing,
                      ".", rest);
}

// Adds limits, each by a name of its own.
void AddNamed(std::vector<RateLimitDraft> read, Field<std::vector<RateLimitDraft>>& limits) {
  if (read.empty()) return;
  if (!limits.value.has_value()) limits.value.emplace();
  std::set<std::string> used;
  for (const RateLimitDraft& each : *limits.value) used.insert(each.name);
  Names names(std::move(used));
  for (RateLimitDraft& each : read) {
    each.name = names.Next("service");
    limits.value->push_back(std::move(each));
  }
}

// Returns the cluster of a rate_limit_service.
std::string ReadServiceCluster(Section service, Notes& notes) {
  std::string cluster;
  service.Ignore({"transport_api_version"});
  if (std::optional<Section> grpc = service.Map("grpc_service"); grpc.has_value()) {
    std::optional<Section> envoy = grpc->Map("envoy_grpc");
    if (envoy.has_value()) {
      cluster = envoy->Text("cluster_name").value_or("");
      AddNote(envoy->Unread(), notes);
    }
    AddNote(grpc->Unread(), notes);
  }
  AddNote(service.Unread(), notes);
  return cluster;
}

}  // namespace

std::optional<EnvoyLimitService> ReadLimitServiceFilter(Section& http_filter) {
  if (!IsLimitServiceFilter(http_filter.Text("name").value_or(""))) return std::nullopt;
  EnvoyLimitService read;
  read.service.timeout = kDefaultLimitTimeout;
  std::optional<Section> settings = http_filter.Map("typed_config");
  if (!settings.has_value()) return read;
  read.service.domain = settings->Text("domain").value_or("");
  read.stage = settings->Whole("stage").value_or(0);
  read.service.timeout = std::clamp(settings->Duration("timeout").value_or(kDefaultLimitTimeout),
                                    kShortestTimeout, kLongestTimeout);
  read.service.deny = settings->Flag("failure_mode_deny").value_or(false);
  if (std::optional<Section> service = settings->Map("rate_limit_service"); service.has_value()) {
    read.cluster = ReadServiceCluster(*std::move(service), read.notes);
  }
  const std::string type = settings->Text("request_type").value_or("both");
  if (type == "internal" || type == "external") {
    read.notes.push_back(
        absl::StrCat("request_type: Envoy asks only for ", type, " requests, Levee for all."));
  }
  // The form of a refusal is the same for every limit of Levee.
  settings->Ignore({"@type", "rate_limited_as_resource_exhausted", "rate_limited_status",
                    "enable_x_ratelimit_headers", "disable_x_envoy_ratelimited_header",
                    "response_headers_to_add", "status_on_error", "stat_prefix"});
  AddNote(settings->Unread(), read.notes);
  AddNote(http_filter.Unread(), read.notes);
  return read;
}

std::string FindServiceAddress(const std::map<std::string, ClusterDraft>& clusters,
                               EnvoyLimitService& service) {
  const auto found = clusters.find(service.cluster);
  if (service.service.domain.empty()) return "Its filter has no domain.";
  if (found == clusters.end()) {
    return absl::StrCat("The file does not have its cluster, ", Quoted(service.cluster), ".");
  }
  const UpstreamDraft& upstream = found->second.upstream;
  const std::vector<std::string> endpoints =
      upstream.endpoints.value.value_or(std::vector<std::string>());
  std::string address = endpoints.empty() ? "" : endpoints.front();
  if (address.starts_with("dns:")) address = address.substr(4);
  if (!SplitHostPort(address).has_value()) {
    return absl::StrCat("Its cluster, ", Quoted(service.cluster), ", has no HOST:PORT.");
  }
  service.service.address = address;
  if (endpoints.size() > 1) {
    service.notes.push_back(absl::StrCat(
        "The service has several addresses, of which this is the first; give a DNS name that has "
        "them all: ",
        absl::StrJoin(endpoints, ", "), "."));
  }
  if (upstream.tls.value.has_value()) {
    service.notes.emplace_back("Envoy speaks TLS to the service; Levee does not yet.");
  }
  return "";
}

void ReadRateLimits(std::vector<Section> rate_limits,
                    const std::vector<EnvoyLimitService>& services, const std::string& cluster,
                    Field<std::vector<RateLimitDraft>>& limits) {
  std::set<std::string> notes;
  std::vector<RateLimitDraft> read;
  for (Section& limit : rate_limits) {
    Actions actions(cluster);
    for (Section& action : limit.Maps("actions")) actions.Read(std::move(action));
    FindConditions(limit, actions.missing);
    const int64_t stage = limit.Whole("stage").value_or(0);
    const auto service =
        std::find_if(services.begin(), services.end(),
                     [stage](const EnvoyLimitService& each) { return each.stage == stage; });
    if (service == services.end()) {
      actions.missing.push_back(absl::StrCat("stage ", stage, ", which no filter reads"));
    }
    AddNote(limit.Unread(), limits.notes);
    if (!actions.missing.empty() || actions.parts.empty()) {
      limits.notes.push_back(WhyLeftOut(limit, actions));
      continue;
    }
    notes.insert(service->notes.begin(), service->notes.end());
    for (const std::string& name : actions.headers) {
      notes.insert(absl::StrCat("Envoy asks nothing for calls without ", name,
                                "; Levee asks with an empty value."));
    }
    read.push_back({.key = std::move(actions.parts), .service = service->service});
  }
  limits.notes.insert(limits.notes.end(), notes.begin(), notes.end());
  AddNamed(std::move(read), limits);
}

}  // namespace levee::importer
