// SPDX-License-Identifier: Apache-2.0
// Imports a gRPC service config as a policy.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "import/draft.h"
#include "import/draft_writer.h"
#include "import/grpc_policy.h"
#include "import/import.h"
#include "import/source.h"
#include "import/yaml_writer.h"

namespace levee {
namespace importer {
namespace {

constexpr char kNoRetries[] = "no-retries";
constexpr double kMostRatio = 100;  // the most that a policy takes

// The calls that one entry of `name` stands for. gRPC chooses the most exact entry, whatever the
// order.
struct MethodName {
  enum class Rank { kMethod, kService, kAll };
  Rank rank;
  std::string service;
  std::string method;

  std::string Glob() const {
    if (rank == Rank::kAll) return "*";
    return absl::StrCat("/", service, "/", rank == Rank::kMethod ? method : "*");
  }
  std::string Label() const {
    if (rank == Rank::kAll) return "default";
    return rank == Rank::kMethod ? absl::StrCat(service, ".", method) : service;
  }
};

// Whether a text that could be read as a mapping is JSON and not YAML of another kind.
bool IsJson(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

bool IsServiceConfig(const Section& config) {
  constexpr const char* kFields[] = {"methodConfig", "retryThrottling", "loadBalancingPolicy",
                                     "loadBalancingConfig", "healthCheckConfig"};
  return std::any_of(std::begin(kFields), std::end(kFields),
                     [&config](const char* field) { return config.Has(field); });
}

class ServiceConfigImport {
 public:
  explicit ServiceConfigImport(const std::string& file) : source_(file, Keys::kAsWritten) {
    draft_.notes.push_back(TitleOf("gRPC service config", file));
  }

  ImportedPolicy Run(const std::string& text);

 private:
  struct RankedRoute {
    MethodName::Rank rank;
    RouteDraft route;
  };

  void ReadConfig(Section config);
  void ReadUpstream(Section& config);
  void ReadMethodConfig(Section method);
  std::vector<MethodName> ReadNames(Section& method);
  std::optional<MethodName> ReadName(Section name);
  void AddRoutes();
  void ReadThrottling(Section& config);
  bool LimitRetries(double ratio);
  void AddNotes(bool throttled);

  Source source_;
  Names policy_names_{{kNoRetries}};
  std::map<std::string, int> lines_;  // where each glob was first named
  std::vector<RankedRoute> routes_;
  Draft draft_;
};

ImportedPolicy ServiceConfigImport::Run(const std::string& text) {
  const std::optional<Item> root = source_.Parse(text, TextFormat::kJson);
  if (root.has_value() && root->node.IsSequence()) {
    source_.Refuse(root->place,
                   "is a list; if these are service config choices, import one's serviceConfig");
  } else if (root.has_value() && root->node.IsScalar()) {
    source_.Refuse(root->place,
                   "this is not JSON, but a plain text; a service config is an object");
  } else if (root.has_value()) {
    std::optional<Section> config = source_.AsSection(*root);
    if (config.has_value() && !IsJson(text) && !IsServiceConfig(*config)) {
      source_.Refuse(root->place, "this is not JSON, and it has no field of a service config");
    } else if (config.has_value()) {
      ReadConfig(*std::move(config));
    }
  }
  return Finish(source_, draft_);
}

void ServiceConfigImport::ReadConfig(Section config) {
  ReadUpstream(config);
  for (Section& method : config.Maps("methodConfig")) ReadMethodConfig(std::move(method));
  AddRoutes();
  AddNotes(config.Has("retryThrottling"));
  ReadThrottling(config);
  AddNote(config.Unread(), draft_.notes);
}

void ServiceConfigImport::ReadUpstream(Section& config) {
  UpstreamDraft upstream = AnywhereUpstream();
  upstream.notes.push_back(
      "A service config belongs to one target; this dials whatever a call's :authority says. To "
      "hold the routes to the target, name its endpoints here and its authority in each match.");
  for (const char* key : {"loadBalancingPolicy", "loadBalancingConfig"}) {
    if (!config.Get(key).has_value()) continue;
    upstream.notes.push_back(absl::StrCat(
        key,
        " has no equivalent: Levee itself spreads attempts over the endpoints that are ready."));
  }
  if (config.Get("healthCheckConfig").has_value()) {
    upstream.notes.emplace_back(
        "healthCheckConfig has no equivalent: an endpoint is ready when it can be reached.");
  }
  draft_.upstreams.push_back(std::move(upstream));
}

void ServiceConfigImport::ReadMethodConfig(Section method) {
  const std::string from = absl::StrCat(method.place().path, ", line ", method.place().line);
  PolicyDraft policy;
  policy.rules = ReadMethodPolicy(method);
  const std::vector<MethodName> names = ReadNames(method);
  if (names.empty()) {
    draft_.policy_notes.push_back(absl::StrCat("Left out: ", from, ", which names no method."));
    return;
  }
  policy.notes.push_back(absl::StrCat("From ", from, "."));
  AddNote(method.Unread(), policy.notes);
  policy.name = policy_names_.Next(names.front().Label());
  for (const MethodName& name : names) {
    RouteDraft route;
    route.method = name.Glob();
    route.upstream = "anywhere";
    route.policy = policy.name;
    routes_.push_back({name.rank, std::move(route)});
  }
  draft_.policies.push_back(std::move(policy));
}

std::vector<MethodName> ServiceConfigImport::ReadNames(Section& method) {
  std::vector<MethodName> names;
  for (Section& section : method.Maps("name")) {
    std::optional<MethodName> name = ReadName(std::move(section));
    if (name.has_value()) names.push_back(*std::move(name));
  }
  return names;
}

std::optional<MethodName> ServiceConfigImport::ReadName(Section section) {
  const std::string service = section.Text("service").value_or("");
  const std::string method = section.Text("method").value_or("");
  if (service.empty() && !method.empty()) {
    section.Refuse("method", "needs a service");
    return std::nullopt;
  }
  using Rank = MethodName::Rank;
  MethodName name{service.empty()  ? Rank::kAll
                  : method.empty() ? Rank::kService
                                   : Rank::kMethod,
                  service, method};
  for (const char* key : {"service", "method"}) {
    const std::string text = section.Text(key).value_or("");
    const bool glob = text.find('*') != std::string::npos || text.find('/') != std::string::npos;
    const bool visible = std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
    if (glob || !visible) {
      section.Refuse(key, absl::StrCat(Quoted(text), " is no name; say pkg.Service and Method"));
      return std::nullopt;
    }
  }
  const auto [first, is_new] = lines_.emplace(name.Glob(), section.place().line);
  if (!is_new) {
    source_.Refuse(section.place(), absl::StrCat("is named twice; first in line ", first->second));
    return std::nullopt;
  }
  AddNote(section.Unread(), draft_.policy_notes);
  return name;
}

void ServiceConfigImport::AddRoutes() {
  std::stable_sort(routes_.begin(), routes_.end(),
                   [](const RankedRoute& a, const RankedRoute& b) { return a.rank < b.rank; });
  for (RankedRoute& ranked : routes_) draft_.routes.push_back(std::move(ranked.route));
  if (lines_.contains("*")) return;
  RouteDraft rest;
  rest.notes.emplace_back(
      "The methods that no methodConfig names, which gRPC does not retry. Levee's own policy for "
      "them is default.");
  rest.upstream = "anywhere";
  rest.policy = kNoRetries;
  draft_.routes.push_back(std::move(rest));
  PolicyDraft policy;
  policy.name = kNoRetries;
  policy.rules.retry.max_attempts.value = 1;
  draft_.policies.push_back(std::move(policy));
}

void ServiceConfigImport::ReadThrottling(Section& config) {
  std::optional<Section> section = config.Map("retryThrottling");
  if (!section.has_value()) return;
  const double max_tokens = section->Number("maxTokens").value_or(0);
  const double ratio = section->Number("tokenRatio").value_or(0);
  if (max_tokens <= 0 || max_tokens > 1000) {
    section->Refuse("maxTokens", "must be given, above 0 and at most 1000");
  }
  if (ratio <= 0) section->Refuse("tokenRatio", "must be given and above 0");
  if (ratio > kMostRatio) section->Refuse("tokenRatio", "is above 100, the most that Levee takes");
  AddNote(section->Unread(), draft_.policy_notes);
  if (!LimitRetries(ratio)) {
    draft_.policy_notes.emplace_back("retryThrottling has no effect, since nothing is retried.");
    return;
  }
  draft_.policy_notes.push_back(absl::StrCat(
      "budget is retryThrottling {maxTokens: ", YamlNumber(max_tokens),
      ", tokenRatio: ", YamlNumber(ratio),
      "}: both allow tokenRatio retries per call in the long run. gRPC counts the successes and "
      "failures of one channel and retries about the first ",
      YamlNumber(max_tokens / 2),
      " failures before it holds back. Levee counts the calls to a destination in the last 10s, "
      "and lets 1 retry a second through as long as most of them help (floor)."));
}

// Returns whether there were retries to limit.
bool ServiceConfigImport::LimitRetries(double ratio) {
  bool limited = false;
  for (PolicyDraft& policy : draft_.policies) {
    if (!Retries(policy.rules)) continue;
    policy.rules.retry.budget.value = BudgetDraft{ratio};
    limited = true;
  }
  return limited;
}

void ServiceConfigImport::AddNotes(bool throttled) {
  const bool retries = std::any_of(draft_.policies.begin(), draft_.policies.end(),
                                   [](const PolicyDraft& policy) { return Retries(policy.rules); });
  if (!retries) return;
  draft_.notes.emplace_back(
      "Take retryPolicy and hedgingPolicy out of the application's own service config: with them "
      "its library goes on retrying, and Levee holds those retries to the budget (app_retries: "
      "limit).");
  NoteRetrying("gRPC", draft_.policy_notes);
  if (throttled) return;
  draft_.policy_notes.emplace_back(
      "There is no retryThrottling, so gRPC retries without bound; Levee's budget allows 1 retry "
      "per 10 calls.");
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportGrpcServiceConfig(const ConfigText& input) {
  return importer::ServiceConfigImport(input.name).Run(input.text);
}

}  // namespace levee
