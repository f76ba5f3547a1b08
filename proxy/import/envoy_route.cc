// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_route.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// Reads the destination of the route. A route to several clusters leads to the first of them.
void ReadCluster(Section& action, EnvoyRoute& result, std::vector<std::string>& reasons) {
  result.forwards = true;
  result.cluster = action.Text("cluster").value_or("");
  std::optional<Section> weighted = action.Map("weighted_clusters");
  if (weighted.has_value()) {
    std::vector<std::string> names;
    for (Section& cluster : weighted->Maps("clusters")) {
      names.push_back(Quoted(cluster.Text("name").value_or("")));
      if (names.size() == 1) result.cluster = cluster.Text("name").value_or("");
    }
    reasons.push_back(absl::StrCat("weighted_clusters (", absl::StrJoin(names, ", "), ")"));
  }
  for (const char* key :
       {"cluster_header", "cluster_specifier_plugin", "inline_cluster_specifier_plugin"}) {
    if (action.Get(key).has_value()) reasons.emplace_back(key);
  }
}

// Notes that Envoy itself answers the route's calls, and how.
void ReadOwnAnswer(Section& route, std::vector<std::string>& reasons) {
  for (const char* key :
       {"redirect", "direct_response", "filter_action", "non_forwarding_action"}) {
    if (route.Get(key).has_value()) reasons.emplace_back(key);
  }
  if (reasons.empty()) reasons.emplace_back("a route that leads nowhere");
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
  std::vector<std::string> reasons;
  std::optional<Section> match = route.Map("match");
  if (match.has_value()) {
    MethodMatch read = ReadEnvoyMatch(*std::move(match));
    result.route.method = read.glob;
    notes.insert(notes.end(), read.notes.begin(), read.notes.end());
    reasons = std::move(read.conditions);
  }
  std::optional<Section> action = route.Map("route");
  if (action.has_value()) {
    ReadCluster(*action, result, reasons);
    ReadRouteTimeout(*action, result.rules.timeout);
    result.rules.retry = ReadRetries(*action, defaults);
  } else {
    ReadOwnAnswer(route, reasons);
  }
  result.rules.rate_limit = ListOf(ReadOwnRateLimit(route, notes).value_or(defaults.rate_limit));
  if (action.has_value()) {
    ReadServiceLimits(*action, defaults, result);
    AddNote(action->Unread(), notes);
  }
  const std::optional<int64_t> bytes = route.Whole("per_request_buffer_limit_bytes");
  LimitBuffer(bytes.has_value() ? bytes : defaults.buffer_bytes, result.rules.retry);
  AddNote(route.Unread(), notes);
  result.route.left_out = !reasons.empty();
  if (result.route.left_out) {
    notes.push_back(
        absl::StrCat("Left out, since this has no equivalent: ", absl::StrJoin(reasons, ", "),
                     ". Its calls go on to the routes below."));
  }
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
