// SPDX-License-Identifier: Apache-2.0
#include "import/linkerd_profile.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "import/attempts.h"

namespace levee::importer {
namespace {

// Linkerd's default for a profile without retryBudget.
constexpr double kDefaultRatio = 0.2;
constexpr double kDefaultPerSecond = 10;
constexpr absl::Duration kDefaultTtl = absl::Seconds(10);

// The bound of a policy's budget.
constexpr double kMostRatio = 1'000'000;

constexpr int kDeepestCondition = 8;
constexpr size_t kMostAlternatives = 64;

// The alternatives of a condition; a call meets one of them.
using Alternatives = std::vector<MethodMatch>;

Alternatives ReadCondition(Section condition, int depth);

// Each of the one with each of the other.
Alternatives Product(const Alternatives& one, const Alternatives& other) {
  if (one.size() * other.size() > kMostAlternatives) return Alternatives(kMostAlternatives + 1);
  Alternatives both;
  for (const MethodMatch& a : one) {
    for (const MethodMatch& b : other) both.push_back(Both(a, b));
  }
  return both;
}

MethodMatch Unknown(const std::string& what) {
  MethodMatch match;
  match.conditions.push_back(what);
  return match;
}

// A condition that no gRPC call meets leaves all of them.
Alternatives ReadNot(Section condition, int depth) {
  const Alternatives inner = ReadCondition(std::move(condition), depth);
  const bool none = std::all_of(inner.begin(), inner.end(),
                                [](const MethodMatch& match) { return !match.never.empty(); });
  return {none ? MethodMatch() : Unknown("not")};
}

// The fields of a condition hold together.
Alternatives ReadCondition(Section condition, int depth) {
  if (depth > kDeepestCondition) {
    condition.Refuse("any", "is nested too deeply");
    return {};
  }
  MethodMatch match;
  const std::string method = condition.Text("method").value_or("POST");
  if (method != "POST") match.never = absl::StrCat("the HTTP method ", Quoted(method));
  const std::optional<std::string> regex = condition.Text("pathRegex");
  if (regex.has_value()) SetRegex(*regex, match);
  Alternatives read = {std::move(match)};
  for (Section& each : condition.Maps("all")) {
    read = Product(read, ReadCondition(std::move(each), depth + 1));
  }
  if (condition.Has("any")) {
    Alternatives any;
    for (Section& each : condition.Maps("any")) {
      for (MethodMatch& one : ReadCondition(std::move(each), depth + 1)) {
        any.push_back(std::move(one));
      }
    }
    read = Product(read, any);
  }
  std::optional<Section> excluded = condition.Map("not");
  if (excluded.has_value()) read = Product(read, ReadNot(*std::move(excluded), depth + 1));
  if (read.size() > kMostAlternatives) {
    condition.Refuse("any", absl::StrCat("has more than ", kMostAlternatives, " alternatives"));
    read.clear();
  }
  for (MethodMatch& one : read) {
    for (const std::string& key : condition.Left()) one.conditions.push_back(key);
  }
  return read;
}

// Reads the HTTP statuses that are failures.
void ReadResponseClasses(Section& route, RetryDraft& retry) {
  std::vector<std::string> http;
  for (Section& entry : route.Maps("responseClasses")) {
    std::optional<Section> condition = entry.Map("condition");
    std::optional<Section> status = condition.has_value() ? condition->Map("status") : std::nullopt;
    const bool failure = entry.Flag("isFailure").value_or(false);
    if (status.has_value() && failure) {
      const int64_t min = status->Whole("min").value_or(100);
      const int64_t max = status->Whole("max").value_or(599);
      if (min < 100 || max > 599 || min > max) {
        status->Refuse("min", "must be from 100 to 599, and at most max");
      } else {
        AddStatuses(static_cast<int>(min), static_cast<int>(max), http);
      }
      AddNote(status->Unread(), retry.http.notes);
      AddNote(condition->Unread(), retry.http.notes);
    } else {
      retry.http.notes.push_back(
          absl::StrCat("Not read: ", entry.ShortPath(), ", which is no range of failures."));
    }
    AddNote(entry.Unread(), retry.http.notes);
  }
  if (http.empty()) AddStatuses(500, 599, http);
  retry.http.value = std::move(http);
}

void ReadProfileRetries(Section& route, RetryDraft& retry) {
  retry.max_attempts.notes.emplace_back(
      "Linkerd retries as often as its budget allows; Levee's default is 3 attempts.");
  retry.codes.value = {"UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"};
  retry.codes.notes.emplace_back("The statuses that are failures to Linkerd.");
  ReadResponseClasses(route, retry);
}

Field<BudgetDraft> ReadBudget(Section& spec) {
  Field<BudgetDraft> field;
  field.value = BudgetDraft{
      .ratio = kDefaultRatio, .least = {}, .window = kDefaultTtl, .per_second = kDefaultPerSecond};
  std::optional<Section> budget = spec.Map("retryBudget");
  if (!budget.has_value()) {
    field.notes.emplace_back("Linkerd's default for a profile without retryBudget.");
    return field;
  }
  const double ratio = budget->Number("retryRatio").value_or(kDefaultRatio);
  const double least = budget->Number("minRetriesPerSecond").value_or(kDefaultPerSecond);
  const absl::Duration ttl = budget->Duration("ttl").value_or(kDefaultTtl);
  if (ratio < 0 || ratio > kMostRatio) budget->Refuse("retryRatio", "must be from 0 to 1000000");
  if (least < 0 || least > kMostRatio) {
    budget->Refuse("minRetriesPerSecond", "must be from 0 to 1000000");
  }
  field.value->ratio = ratio;
  field.value->per_second = least;
  SetWindow("ttl", ttl, field);
  field.notes.emplace_back(
      "minRetriesPerSecond is the minimum (floor). In Levee it counts only while most attempts or "
      "most retries succeed.");
  AddNote(budget->Unread(), field.notes);
  return field;
}

// Sets where the calls go that a profile is for. Its name is that of a service, or of another host.
void SetHost(const std::string& name, ServiceRoute& route) {
  const std::vector<std::string> parts = absl::StrSplit(name, '.');
  if (parts.size() >= 3 && parts[2] == "svc") {
    route.service = {parts[1], parts[0], 0};
    route.hosts = GlobsOf(route.service);
  } else {
    route.hosts = AnyPort(name);
  }
}

}  // namespace

std::vector<ServiceRoute> ReadServiceProfile(KubeObject& object) {
  std::vector<ServiceRoute> routes;
  if (!object.spec.has_value()) return routes;
  Section& spec = *object.spec;
  ServiceRoute like;
  like.in_order = true;
  like.like = object.name.substr(0, object.name.find('.'));
  SetHost(object.name, like);
  const Field<BudgetDraft> budget = ReadBudget(spec);
  for (Section& section : spec.Maps("routes")) {
    ServiceRoute route = like;
    route.place = section.place();
    const std::string name = section.Text("name").value_or("");
    route.notes.push_back(absl::StrCat("From ", object.Label(), ", route ", Quoted(name), ", line ",
                                       section.place().line, "."));
    std::optional<Section> condition = section.Map("condition");
    if (!condition.has_value()) section.Refuse("condition", "must be given");
    Alternatives matches;
    if (condition.has_value()) matches = ReadCondition(*std::move(condition), 0);
    SetPositive(section, "timeout", route.rules.timeout);
    if (section.Flag("isRetryable").value_or(false)) {
      ReadProfileRetries(section, route.rules.retry);
      route.rules.retry.budget = budget;
    } else {
      route.rules.retry.max_attempts.value = 1;
      section.Ignore({"responseClasses"});
    }
    AddNote(section.Unread(), route.notes);
    for (MethodMatch& match : matches) {
      route.match = std::move(match);
      routes.push_back(route);
      route.notes.clear();  // Once is enough for all alternatives.
    }
  }
  ServiceRoute rest = like;
  rest.rules.retry.max_attempts.value = 1;
  rest.place = object.place;
  rest.notes = {
      absl::StrCat("From ", object.Label(), ": the calls that none of its routes match.")};
  if (spec.Get("dstOverrides").has_value()) {
    rest.notes.emplace_back("dstOverrides have no equivalent.");
  }
  spec.Ignore({"opaquePorts"});
  AddNote(spec.Unread(), rest.notes);
  routes.push_back(std::move(rest));
  return routes;
}

}  // namespace levee::importer
