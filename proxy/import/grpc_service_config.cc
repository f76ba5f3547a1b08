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
#include "import/route_fit.h"
#include "import/source.h"
#include "import/yaml_writer.h"

namespace levee {
namespace importer {
namespace {

constexpr char kPatient[] = "patient";   // the upstream of methods that wait for a connection
constexpr double kMostTokenRatio = 100;  // the most that a policy takes

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
  ImportedPolicy Run(const std::vector<ConfigText>& texts);

 private:
  struct RankedRoute {
    MethodName::Rank rank;
    RouteDraft route;
  };

  void ReadText(const ConfigText& text);
  void ReadConfig(Section config);
  void ReadUpstream(Section& config);
  void ReadMethodConfig(Section method);
  const char* PatientUpstream();
  std::vector<MethodName> ReadNames(Section& method);
  std::optional<MethodName> ReadName(Section name);
  void AddRoutes();
  void ReadThrottling(Section& config);
  bool LimitRetries(double ratio);
  void AddNotes();
  std::string Where(const Place& place) const;

  Source source_{Keys::kAnyCase};
  bool several_ = false;     // texts
  size_t first_policy_ = 0;  // of the text that is read
  bool unbounded_ = false;   // a text that retries has no retryThrottling
  Notes throttling_notes_;
  Notes unread_notes_;
  Names policy_names_{{kNoRetries}};
  std::map<std::string, Place> places_;  // where each glob was first named
  std::vector<RankedRoute> routes_;
  Draft draft_;
};

ImportedPolicy ServiceConfigImport::Run(const std::vector<ConfigText>& texts) {
  draft_.notes.push_back(TitleOf("gRPC service config", FileOf(texts)));
  draft_.upstreams.push_back(AnywhereUpstream());
  draft_.upstreams.back().notes.push_back(
      "A service config belongs to one target; this dials whatever a call's :authority says. To "
      "hold the routes to the target, name its endpoints here and its authority in each match.");
  several_ = texts.size() > 1;
  for (const ConfigText& text : texts) ReadText(text);
  AddRoutes();
  AddNotes();
  const auto append = [](const Notes& more, Notes& notes) {
    notes.insert(notes.end(), more.begin(), more.end());
  };
  append(throttling_notes_, draft_.policy_notes);
  append(unread_notes_, draft_.notes);
  FitRoutes(source_, draft_);
  return Finish(source_, draft_);
}

void ServiceConfigImport::ReadText(const ConfigText& text) {
  const std::optional<Item> root = source_.Parse(text, TextFormat::kJson);
  if (root.has_value() && root->node.IsSequence()) {
    source_.Refuse(root->place,
                   "is a list; if these are service config choices, import one's serviceConfig");
  } else if (root.has_value() && root->node.IsScalar()) {
    source_.Refuse(root->place,
                   "this is not JSON, but a plain text; a service config is an object");
  } else if (root.has_value()) {
    std::optional<Section> config = source_.AsSection(*root);
    if (config.has_value() && !IsJson(text.text) && !IsServiceConfig(*config)) {
      source_.Refuse(root->place, "this is not JSON, and it has no field of a service config");
    } else if (config.has_value()) {
      ReadConfig(*std::move(config));
    }
  }
}

void ServiceConfigImport::ReadConfig(Section config) {
  first_policy_ = draft_.policies.size();
  ReadUpstream(config);
  for (Section& method : config.Maps("methodConfig")) ReadMethodConfig(std::move(method));
  ReadThrottling(config);
  AddNote(config.Unread(), unread_notes_);
}

void ServiceConfigImport::ReadUpstream(Section& config) {
  Notes& notes = draft_.upstreams.front().notes;
  const auto add = [&notes](const std::string& note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  };
  for (const char* key : {"loadBalancingPolicy", "loadBalancingConfig"}) {
    if (!config.Get(key).has_value()) continue;
    add(absl::StrCat(
        key,
        " has no equivalent: Levee itself spreads attempts over the endpoints that are ready."));
  }
  std::optional<Section> health = config.Map("healthCheckConfig");
  if (!health.has_value()) return;
  add(absl::StrCat("healthCheckConfig (service ", Quoted(health->Text("serviceName").value_or("")),
                   ") has no equivalent: an endpoint is ready when it can be reached."));
  AddNote(health->Unread(), notes);
}

void ServiceConfigImport::ReadMethodConfig(Section method) {
  const std::string from = absl::StrCat(method.place().path, ", ", Where(method.place()));
  PolicyDraft policy;
  policy.rules = ReadMethodPolicy(method);
  const bool patient = method.Flag("waitForReady").value_or(false);
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
    route.source = static_cast<int>(routes_.size());
    route.method = name.Glob();
    route.upstream = patient ? PatientUpstream() : "anywhere";
    route.policy = policy.name;
    routes_.push_back({name.rank, std::move(route)});
  }
  draft_.policies.push_back(std::move(policy));
}

// Makes kPatient for the first method that wants it, and returns its name.
const char* ServiceConfigImport::PatientUpstream() {
  if (draft_.upstreams.back().name == kPatient) return kPatient;
  UpstreamDraft patient = AnywhereUpstream();
  patient.name = kPatient;
  patient.notes.push_back(
      "waitForReady: true: calls wait for a connection, as gRPC's do, until their deadlines.");
  patient.connect_wait.value = absl::Hours(1);
  draft_.upstreams.push_back(std::move(patient));
  return kPatient;
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
      section.Refuse(key, absl::StrCat(Quoted(text), " is not a name; say pkg.Service and Method"));
      return std::nullopt;
    }
  }
  const auto [first, is_new] = places_.emplace(name.Glob(), section.place());
  if (!is_new) {
    source_.Refuse(section.place(),
                   absl::StrCat("is named twice; first in ", Where(first->second)));
    return std::nullopt;
  }
  AddNote(section.Unread(), draft_.policy_notes);
  return name;
}

// Returns "line 7", of several texts with the name of the text.
std::string ServiceConfigImport::Where(const Place& place) const {
  return absl::StrCat("line ", place.line, several_ ? " of " + place.file : "");
}

void ServiceConfigImport::AddRoutes() {
  std::stable_sort(routes_.begin(), routes_.end(),
                   [](const RankedRoute& a, const RankedRoute& b) { return a.rank < b.rank; });
  for (RankedRoute& ranked : routes_) draft_.routes.push_back(std::move(ranked.route));
  if (places_.contains("*")) return;
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
  if (!section.has_value()) {
    unbounded_ |= std::any_of(draft_.policies.begin() + static_cast<std::ptrdiff_t>(first_policy_),
                              draft_.policies.end(),
                              [](const PolicyDraft& policy) { return Retries(policy.rules); });
    return;
  }
  const double max_tokens = section->Number("maxTokens").value_or(0);
  const double ratio = section->Number("tokenRatio").value_or(0);
  if (max_tokens <= 0 || max_tokens > 1000) {
    section->Refuse("maxTokens", "must be given, above 0 and at most 1000");
  }
  if (ratio <= 0) section->Refuse("tokenRatio", "must be given and above 0");
  if (ratio > kMostTokenRatio)
    section->Refuse("tokenRatio", "is above 100, the most that Levee takes");
  AddNote(section->Unread(), throttling_notes_);
  if (!LimitRetries(ratio)) {
    throttling_notes_.emplace_back("retryThrottling has no effect, since nothing is retried.");
    return;
  }
  throttling_notes_.push_back(absl::StrCat(
      "budget is retryThrottling {maxTokens: ", YamlNumber(max_tokens),
      ", tokenRatio: ", YamlNumber(ratio),
      "}: both allow tokenRatio retries per call in the long run. gRPC counts the successes and "
      "failures of one channel and retries about the first ",
      YamlNumber(max_tokens / 2),
      " failures before it holds back. Levee counts the calls to a destination in the last 10s, "
      "and allows 1 retry a second (floor) as long as most of them succeed."));
}

// Limits those of the text that is read. Returns whether there were retries to limit.
bool ServiceConfigImport::LimitRetries(double ratio) {
  bool limited = false;
  for (size_t i = first_policy_; i < draft_.policies.size(); ++i) {
    PolicyDraft& policy = draft_.policies[i];
    if (!Retries(policy.rules)) continue;
    policy.rules.retry.budget.value = BudgetDraft{ratio};
    limited = true;
  }
  return limited;
}

void ServiceConfigImport::AddNotes() {
  const bool retries = std::any_of(draft_.policies.begin(), draft_.policies.end(),
                                   [](const PolicyDraft& policy) { return Retries(policy.rules); });
  if (!retries) return;
  draft_.notes.emplace_back(
      "Take retryPolicy and hedgingPolicy out of the application's own service config: with them "
      "its library goes on retrying, and Levee holds those retries to the budget (app_retries: "
      "limit).");
  NoteRetrying("gRPC", draft_.policy_notes);
  if (!unbounded_) return;
  draft_.policy_notes.emplace_back(
      "There is no retryThrottling, so gRPC retries without bound; Levee's budget allows 1 retry "
      "per 10 calls.");
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportGrpcServiceConfig(const std::vector<ConfigText>& texts) {
  return importer::ServiceConfigImport().Run(texts);
}

}  // namespace levee
