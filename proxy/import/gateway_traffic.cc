// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_traffic.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/attempts.h"
#include "import/envoy_rate_limit.h"
#include "import/envoy_retry_on.h"
#include "import/kgateway_traffic.h"
#include "import/outliers.h"

namespace levee::importer {
namespace {

// Envoy Gateway's defaults for a policy with `retry`.
constexpr int64_t kDefaultGatewayRetries = 2;
constexpr char kDefaultTriggers[] =
    "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";
constexpr absl::Duration kGatewayBaseInterval = absl::Milliseconds(25);
constexpr int kMostOverInterval = 10;

void ReadTriggers(Section& retry, RetryDraft& draft) {
  std::optional<Section> on = retry.Map("retryOn");
  if (!on.has_value()) {
    SetRetryOn(kDefaultTriggers, {"503"}, draft);
    draft.codes.notes.emplace_back("Envoy Gateway's default for a policy without retryOn.");
    return;
  }
  std::vector<std::string> triggers = on->Texts("triggers");
  std::vector<std::string> statuses;
  for (const std::string& status : on->Texts("httpStatusCodes")) {
    if (status.size() == 3 && (status[0] == '4' || status[0] == '5')) {
      statuses.push_back(status);
    } else {
      draft.http.notes.push_back(absl::StrCat("httpStatusCodes: ", status, " is no failure."));
    }
  }
  SetRetryOn(absl::StrJoin(triggers, ","), statuses, draft);
  AddNote(on->Unread(), draft.notes);
}

void ReadPerRetry(Section& retry, RetryDraft& draft) {
  absl::Duration initial = kGatewayBaseInterval;
  std::optional<absl::Duration> max;
  std::optional<Section> each = retry.Map("perRetry");
  if (each.has_value()) {
    SetPositive(*each, "timeout", draft.attempt_timeout);
    std::optional<Section> backoff = each->Map("backOff");
    if (backoff.has_value()) {
      initial = backoff->Duration("baseInterval").value_or(kGatewayBaseInterval);
      max = backoff->Duration("maxInterval");
      if (initial == absl::ZeroDuration()) backoff->Refuse("baseInterval", "must be above 0s");
      if (max.has_value() && *max < initial) {
        backoff->Refuse("maxInterval", "must be at least baseInterval");
      }
      AddNote(backoff->Unread(), draft.backoff.notes);
    }
    AddNote(each->Unread(), draft.notes);
  }
  draft.backoff.value =
      BackoffDraft{.initial = Bounded(initial, draft.backoff.notes),
                   .max = Bounded(max.value_or(initial * kMostOverInterval), draft.backoff.notes)};
}

RetryDraft ReadGatewayRetry(Section retry) {
  RetryDraft draft;
  draft.max_attempts = ReadAttemptsOf(retry, "numRetries", kDefaultGatewayRetries);
  ReadPerRetry(retry, draft);
  ReadTriggers(retry, draft);
  draft.commit.value = "headers";
  AddNote(retry.Unread(), draft.notes);
  StopWithoutConditions(draft);
  if (draft.max_attempts.value == 1) DropRetries(draft);
  return draft;
}

void ReadTimeouts(Section timeout, TrafficRules& rules) {
  std::optional<Section> tcp = timeout.Map("tcp");
  if (tcp.has_value()) {
    SetPositive(*tcp, "connectTimeout", rules.connect_timeout);
    AddNote(tcp->Unread(), rules.timeout.notes);
  }
  std::optional<Section> http = timeout.Map("http");
  if (http.has_value()) {
    SetPositive(*http, "requestTimeout", rules.timeout);
    SetPositive(*http, "maxConnectionDuration", rules.max_connection_age);
    AddNote(http->Unread(), rules.timeout.notes);
  }
  AddNote(timeout.Unread(), rules.timeout.notes);
}

// Returns the rate of a limit's `requests` per `unit`; empty if it has no equivalent.
std::string RateOf(int64_t requests, const std::string& unit) {
  if (unit == "Second") return absl::StrCat(requests, "/s");
  if (unit == "Minute") return absl::StrCat(requests, "/m");
  return unit == "Hour" ? absl::StrCat(requests, "/h") : "";
}

// A rule that selects no clients is for all calls of a sidecar.
void ReadLocalRule(Section rule, Field<std::vector<RateLimitDraft>>& field) {
  std::optional<Section> limit = rule.Map("limit");
  constexpr int64_t kMostRequests = 1'000'000'000;  // the most that a policy takes
  const int64_t requests = limit.has_value() ? limit->Whole("requests").value_or(0) : 0;
  const std::string unit = limit.has_value() ? limit->Text("unit").value_or("") : "";
  if ((requests <= 0 || requests > kMostRequests) && limit.has_value()) {
    limit->Refuse("requests", "must be given, above 0 and at most 1000000000");
  }
  const std::string rate = RateOf(requests, unit);
  const bool all = rule.List("clientSelectors").empty();
  if (limit.has_value()) AddNote(limit->Unread(), field.notes);
  AddNote(rule.Unread(), field.notes);
  if (!all || rate.empty()) {
    field.notes.push_back(
        absl::StrCat(rule.ShortPath(), " is left out, since this has no equivalent: ",
                     all ? absl::StrCat("the unit ", Quoted(unit)) : "clientSelectors",
                     ". Write a rate_limit of the policy with a key."));
    return;
  }
  if (!field.value.has_value()) field.value.emplace();
  RateLimitDraft draft;
  draft.name = absl::StrCat("gateway-", field.value->size() + 1);
  draft.rate = rate;
  draft.burst = static_cast<int>(std::min(requests, kMostRequests));
  field.value->push_back(std::move(draft));
}

void ReadRateLimits(Section section, Field<std::vector<RateLimitDraft>>& field) {
  section.Ignore({"type"});
  std::optional<Section> local = section.Map("local");
  if (local.has_value()) {
    for (Section& rule : local->Maps("rules")) ReadLocalRule(std::move(rule), field);
    if (field.value.has_value()) {
      field.notes.emplace_back(
          "rateLimit: each of Envoy's proxies has a bucket of its own, and so has each sidecar.");
    }
    AddNote(local->Unread(), field.notes);
  }
  NoteGlobalLimit(section, field.notes);
  AddNote(section.Unread(), field.notes);
}

void ReadHealthChecks(Section health, Field<EjectionDraft>& field) {
  if (health.Get("active").has_value()) {
    field.notes.emplace_back(
        "healthCheck.active has no equivalent: an endpoint is ready when it can be reached.");
  }
  std::optional<Section> passive = health.Map("passive");
  if (passive.has_value()) {
    ReadOutlierDetection(*std::move(passive), {"consecutive5XxErrors", "baseEjectionTime", ""},
                         field);
  }
  AddNote(health.Unread(), field.notes);
}

void ReadBreakers(Section breakers, Notes& notes) {
  const std::vector<std::string> left = breakers.Left();
  if (left.empty()) return;
  notes.push_back(
      absl::StrCat("circuitBreaker has no equivalent for ", absl::StrJoin(left, ", "), "."));
}

TrafficRules ReadRules(Section& spec, const std::string& label) {
  TrafficRules rules;
  rules.label = label;
  rules.timeout.notes = {absl::StrCat("From ", label, ".")};
  if (auto retry = spec.Map("retry")) rules.retry = ReadGatewayRetry(*std::move(retry));
  if (auto timeout = spec.Map("timeout")) ReadTimeouts(*std::move(timeout), rules);
  if (auto limits = spec.Map("rateLimit")) ReadRateLimits(*std::move(limits), rules.rate_limit);
  if (auto health = spec.Map("healthCheck")) ReadHealthChecks(*std::move(health), rules.ejection);
  if (auto breakers = spec.Map("circuitBreaker")) {
    ReadBreakers(*std::move(breakers), rules.timeout.notes);
  }
  AddNote(spec.Unread(), rules.timeout.notes);
  return rules;
}

// The smaller number of attempts is allowed by both.
void SetRetries(const RetryDraft& policy, RetryDraft& route, bool own) {
  const int most = policy.max_attempts.value.value_or(kMostAttempts);
  if (own && route.max_attempts.value.value_or(3) <= most) {
    route.notes.emplace_back("The route's own retry has fewer attempts than its policy's.");
    return;
  }
  const RetryDraft before = std::move(route);
  route = policy;
  if (!route.attempt_timeout.value.has_value()) route.attempt_timeout = before.attempt_timeout;
  route.notes.insert(route.notes.end(), before.notes.begin(), before.notes.end());
  if (own) {
    route.notes.emplace_back("The policy has fewer attempts than the route's own retry.");
  }
}

template <typename T>
void SetUnlessSet(const Field<T>& from, Field<T>& to) {
  if (!to.value.has_value() && to.notes.empty()) to = from;
}

}  // namespace

void TrafficPolicies::Read(KubeObject& object, Notes& notes) {
  if (!object.spec.has_value()) return;
  Section& spec = *object.spec;
  std::vector<Section> targets = spec.Maps("targetRefs");
  if (std::optional<Section> one = spec.Map("targetRef"); one.has_value()) targets.push_back(*one);
  if (targets.empty()) {
    notes.push_back(absl::StrCat(object.Label(), " has no targetRefs, so that no route has it."));
  }
  std::vector<Attached> read;
  for (Section& target : targets) {
    Attached attached;
    attached.kind = target.Text("kind").value_or("");
    attached.target = {object.ns, ReadObjectName(target, "name", true)};
    attached.section = target.Text("sectionName").value_or("");
    target.Ignore({"group"});
    AddNote(target.Unread(), notes);
    read.push_back(std::move(attached));
  }
  const TrafficRules rules = object.kind == "TrafficPolicy"
                                 ? ReadKgatewayRules(spec, object.Label())
                                 : ReadRules(spec, object.Label());
  for (Attached& attached : read) {
    attached.rules = rules;
    attached_.push_back(std::move(attached));
  }
}

TrafficPolicies::Attached* TrafficPolicies::Find(const std::string& kind, const ObjectName& name,
                                                 const std::string& section) {
  for (Attached& each : attached_) {
    if (each.kind == kind && each.target == name && each.section == section) return &each;
  }
  return nullptr;
}

// A policy of a rule comes before one of its route, and that before one of a gateway, of which it
// is not known by which listener a call comes.
TrafficPolicies::Attached* TrafficPolicies::FindFor(const std::string& kind, const ObjectName& name,
                                                    const ServiceRoute& route) {
  if (!route.rule.empty()) {
    if (Attached* found = Find(kind, name, route.rule)) return found;
  }
  if (Attached* found = Find(kind, name, "")) return found;
  for (const ObjectName& gateway : route.gateways) {
    if (Attached* found = Find("Gateway", gateway, "")) return found;
  }
  return nullptr;
}

void TrafficPolicies::Apply(const std::string& kind, const ObjectName& name, ServiceRoute& route,
                            ServiceDraft& draft) {
  Attached* found = FindFor(kind, name, route);
  if (found == nullptr) return;
  found->used = true;
  const TrafficRules& rules = found->rules;
  const bool own = route.rules.retry.max_attempts != OnceRules().retry.max_attempts;
  if (rules.retry.has_value()) SetRetries(*rules.retry, route.rules.retry, own);
  Field<absl::Duration>& timeout = route.rules.timeout;
  if (!timeout.value.has_value() || timeout.value > rules.timeout.value.value_or(*timeout.value)) {
    timeout.value = rules.timeout.value;
  }
  timeout.notes.insert(timeout.notes.end(), rules.timeout.notes.begin(), rules.timeout.notes.end());
  route.rules.rate_limit = rules.rate_limit;
  if (route.service.name.empty()) return;
  ServiceSettings& settings = draft.Settings(route.service.ns, route.service.name);
  SetUnlessSet(rules.connect_timeout, settings.connect_timeout);
  SetUnlessSet(rules.max_connection_age, settings.max_connection_age);
  SetUnlessSet(rules.ejection, settings.ejection);
}

void TrafficPolicies::NoteUnused(Notes& notes) const {
  for (const Attached& each : attached_) {
    if (each.used) continue;
    notes.push_back(absl::StrCat("Left out: ", each.rules.label, " for ", each.kind, " ",
                                 Quoted(each.target.name),
                                 each.section.empty() ? "" : ", section " + each.section,
                                 ", since no route here is attached to it."));
  }
}

}  // namespace levee::importer
