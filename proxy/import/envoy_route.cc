// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_route.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/attempts.h"
#include "import/envoy_match.h"
#include "import/envoy_rate_limit.h"
#include "import/envoy_retry_policy.h"

namespace levee::importer {
namespace {

// Envoy's default for a route.
constexpr absl::Duration kDefaultTimeout = absl::Seconds(15);

struct Bound {
  std::string name;
  absl::Duration duration;
};

// Reads max_stream_duration, for which a gRPC call's own timeout can stand in.
void ReadStreamBounds(Section stream, std::vector<Bound>& bounds, Notes& notes) {
  const std::optional<absl::Duration> grpc = stream.Duration("grpc_timeout_header_max");
  const std::optional<absl::Duration> any = stream.Duration("max_stream_duration");
  if (grpc.has_value()) {
    bounds.push_back({"grpc_timeout_header_max", *grpc});
    if (*grpc > absl::ZeroDuration()) {
      notes.emplace_back(
          "grpc_timeout_header_max bounds calls that have a timeout, Levee's bounds all.");
    }
    if (any.has_value()) {
      notes.emplace_back(
          "max_stream_duration has no equivalent beside grpc_timeout_header_max: it bounds calls "
          "that "
          "have no timeout.");
    }
  } else if (any.has_value()) {
    bounds.push_back({"max_stream_duration", *any});
  }
  AddNote(stream.Unread(), notes);
}

void ReadRouteTimeout(Section& action, Field<absl::Duration>& timeout) {
  std::vector<Bound> bounds;
  const std::optional<absl::Duration> given = action.Duration("timeout");
  const std::optional<absl::Duration> grpc = action.Duration("max_grpc_timeout");
  if (grpc.has_value()) {  // It replaces `timeout`.
    bounds.push_back({"max_grpc_timeout", *grpc});
  } else {
    bounds.push_back({"timeout", given.value_or(kDefaultTimeout)});
    if (!given.has_value())
      timeout.notes.emplace_back("Envoy's default for a route without timeout.");
  }
  std::optional<Section> stream = action.Map("max_stream_duration");
  if (stream.has_value()) ReadStreamBounds(*std::move(stream), bounds, timeout.notes);
  std::erase_if(bounds, [](const Bound& b) { return b.duration == absl::ZeroDuration(); });
  if (bounds.empty()) return;
  const auto least =
      std::min_element(bounds.begin(), bounds.end(),
                       [](const Bound& a, const Bound& b) { return a.duration < b.duration; });
  SetDuration(least->duration, timeout);
  if (bounds.size() == 1) return;
  timeout.notes.push_back(
      absl::StrCat("The least of ",
                   absl::StrJoin(bounds, " and ",
                                 [](std::string* out, const Bound& bound) {
                                   absl::StrAppend(out, bound.name, " (",
                                                   absl::FormatDuration(bound.duration), ")");
                                 }),
                   "."));
}

// A route to several clusters leads to the first of those that get the most calls.
void ReadWeightedClusters(Section weighted, EnvoyRoute& result) {
  std::vector<std::string> names;
  int64_t most = 0;
  for (Section& cluster : weighted.Maps("clusters")) {
    const std::string name = cluster.Text("name").value_or("");
    const int64_t weight = cluster.Whole("weight").value_or(0);
    if (cluster.Get("cluster_header").has_value())
      result.route.unsaid.unknown.emplace_back("cluster_header");
    AddNote(cluster.Unread(), result.route.notes);
    if (weight > 0) names.push_back(Quoted(name));
    if (weight <= most && !result.cluster.empty()) continue;
    most = std::max(most, weight);
    result.cluster = name;
  }
  weighted.Ignore({"total_weight"});
  AddNote(weighted.Unread(), result.route.notes);
  if (names.size() < 2) return;
  result.route.narrowed = true;
  result.route.notes.push_back(absl::StrCat(
      "weighted_clusters have no equivalent: ", absl::StrJoin(names, ", "), ". All calls go to ",
      Quoted(result.cluster), ", the first one with the largest weight."));
}

// Reads the destination of the route, and what else happens to its calls.
void ReadCluster(Section& action, EnvoyRoute& result) {
  Unsaid& unsaid = result.route.unsaid;
  result.forwards = true;
  result.cluster = action.Text("cluster").value_or("");
  std::optional<Section> weighted = action.Map("weighted_clusters");
  if (weighted.has_value()) ReadWeightedClusters(*std::move(weighted), result);
  for (const char* key :
       {"cluster_header", "cluster_specifier_plugin", "inline_cluster_specifier_plugin"}) {
    if (action.Get(key).has_value()) unsaid.unknown.emplace_back(key);
  }
  const std::optional<std::string> prefix = action.Text("prefix_rewrite");
  const bool same = result.globs == std::vector<std::string>{prefix.value_or("") + "*"};
  if (prefix.has_value() && !same) unsaid.changes.emplace_back("prefix_rewrite");
  for (const char* key : {"regex_rewrite", "path_rewrite_policy", "path_rewrite"}) {
    if (action.Get(key).has_value()) unsaid.changes.emplace_back(key);
  }
}

// Whether any gRPC call has a path like that: one that is not /SERVICE/METHOD is for a browser.
bool MayBeMethods(const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [](const std::string& glob) {
    return glob.find('*') != std::string::npos || std::count(glob.begin(), glob.end(), '/') > 1;
  });
}

// Envoy itself answers the route's calls.
void ReadOwnAnswer(Section& route, EnvoyRoute& result) {
  std::vector<std::string>& answers = result.route.unsaid.answers;
  std::optional<Section> redirect = route.Map("redirect");
  if (redirect.has_value()) {
    answers.emplace_back("redirect");
    const bool secure = redirect->Flag("https_redirect").value_or(false);
    redirect->Ignore({"port_redirect", "response_code"});
    if (secure && redirect->Left().empty()) result.never = "a use for https_redirect";
  }
  for (const char* key : {"direct_response", "filter_action", "non_forwarding_action"}) {
    if (route.Get(key).has_value()) answers.emplace_back(key);
  }
  if (answers.empty()) answers.emplace_back("a route that leads nowhere");
  if (!MayBeMethods(result.globs))
    result.never = absl::StrCat("the path ", Quoted(result.globs[0]));
}

RetryDraft NoRetries() {
  RetryDraft none;
  none.max_attempts.value = 1;
  return none;
}

// Returns the retry policy of the route, or else that of its virtual host; they are not merged.
RetryDraft ReadRetries(Section& action, const EnvoyRouteDefaults& defaults) {
  std::optional<Section> own = action.Map("retry_policy");
  if (own.has_value()) return ReadEnvoyRetryPolicy(*std::move(own));
  return defaults.retry.value_or(NoRetries());
}

void LimitBuffer(std::optional<int64_t> bytes, RetryDraft& retry) {
  constexpr int64_t kLargest = int64_t{1} << 30;  // the most that a policy takes
  if (bytes.has_value() && retry.max_attempts.value != 1) {
    retry.buffer_bytes.value = std::clamp<int64_t>(*bytes, 0, kLargest);
  }
}

Field<std::vector<RateLimitDraft>> ListOf(const Field<RateLimitDraft>& limit) {
  Field<std::vector<RateLimitDraft>> list;
  list.notes = limit.notes;
  if (limit.value.has_value()) list.value = {*limit.value};
  return list;
}

// A route's own rate_limits take the place of those of its virtual host, unless it says otherwise.
void ReadServiceLimits(Section& action, const EnvoyRouteDefaults& defaults, EnvoyRoute& result) {
  std::vector<Section> limits = action.Maps("rate_limits");
  const bool both = action.Flag("include_vh_rate_limits").value_or(false);
  if (defaults.services.empty()) {
    NoteRateLimits(std::move(limits), result.route.notes);
    return;
  }
  if (limits.empty() || both) {
    limits.insert(limits.end(), defaults.rate_limits.begin(), defaults.rate_limits.end());
  }
  ReadRateLimits(std::move(limits), defaults.services, result.cluster, result.rules.rate_limit);
}

}  // namespace

EnvoyRoute ReadEnvoyRoute(Section route, const EnvoyRouteDefaults& defaults) {
  EnvoyRoute result;
  Notes& notes = result.route.notes;
  notes.push_back(absl::StrCat("From ", route.ShortPath(), ", line ", route.place().line, "."));
  result.policy_name = route.Text("name").value_or("");
  result.route.place = route.place();
  std::optional<Section> match = route.Map("match");
  if (match.has_value()) {
    MethodMatch read = ReadEnvoyMatch(*std::move(match));
    result.globs = std::move(read.globs);
    result.never = std::move(read.never);
    result.route.narrowed = read.narrowed;
    notes.insert(notes.end(), read.notes.begin(), read.notes.end());
    result.route.headers = std::move(read.headers);
    result.route.unsaid.conditions = std::move(read.conditions);
  }
  std::optional<Section> action = route.Map("route");
  if (action.has_value()) {
    ReadCluster(*action, result);
    ReadRouteTimeout(*action, result.rules.timeout);
    result.rules.retry = ReadRetries(*action, defaults);
    TryOnceIfChanged(result.route.unsaid, result.rules);
  } else {
    ReadOwnAnswer(route, result);
  }
  result.rules.rate_limit = ListOf(ReadOwnRateLimit(route, notes).value_or(defaults.rate_limit));
  if (action.has_value()) {
    ReadServiceLimits(*action, defaults, result);
    AddNote(action->Unread(), notes);
  }
  const std::optional<int64_t> bytes = route.Whole("per_request_buffer_limit_bytes");
  LimitBuffer(bytes.has_value() ? bytes : defaults.buffer_bytes, result.rules.retry);
  AddNote(route.Unread(), notes);
  return result;
}

PolicyRules RulesWithoutRoute(const EnvoyRouteDefaults& defaults) {
  PolicyRules rules;
  rules.retry = defaults.retry.value_or(NoRetries());
  rules.rate_limit = ListOf(defaults.rate_limit);
  LimitBuffer(defaults.buffer_bytes, rules.retry);
  return rules;
}

}  // namespace levee::importer
