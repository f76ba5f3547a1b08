// SPDX-License-Identifier: Apache-2.0
#include "import/istio_destination.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/values.h"
#include "import/attempts.h"
#include "import/istio_host.h"
#include "import/outliers.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

// Istio's defaults.
constexpr double kIstioBudgetPercent = 20;
constexpr int64_t kDefaultLeast = 3;

// The bound of a policy's burst.
constexpr int64_t kMost = 1'000'000;

void ReadBudget(Section section, Field<BudgetDraft>& field) {
  const double percent = section.Number("percent").value_or(kIstioBudgetPercent);
  if (percent < 0 || percent > 100) section.Refuse("percent", "must be from 0 to 100");
  const int64_t least = section.Whole("minRetryConcurrency").value_or(kDefaultLeast);
  if (least < 0) section.Refuse("minRetryConcurrency", "must not be negative");
  field.value = BudgetDraft{.ratio = percent / 100,
                            .least = static_cast<double>(std::clamp<int64_t>(least, 0, kMost)),
                            .window = {},
                            .per_second = {}};
  const absl::Duration interval =
      section.Duration("budgetInterval").value_or(absl::ZeroDuration());  // 0s: at the moment
  if (interval > absl::ZeroDuration()) SetWindow("budgetInterval", interval, field);
  field.notes.push_back(absl::StrCat(
      "retryBudget: Istio lets retries be ", YamlNumber(percent),
      "% of the requests under way, or of the last budgetInterval; Levee of the calls in the "
      "window. minRetryConcurrency is the burst: as many may fail in a row, and then successes "
      "have to pay for more."));
  AddNote(section.Unread(), field.notes);
}

void ReadPool(Section section, ServiceSettings& settings) {
  std::optional<Section> tcp = section.Map("tcp");
  if (tcp.has_value()) {
    const std::optional<absl::Duration> connect = tcp->Duration("connectTimeout");
    if (connect == absl::ZeroDuration()) tcp->Refuse("connectTimeout", "must be above 0s");
    if (connect.has_value()) SetDuration(*connect, settings.connect_timeout);
    SetPositive(*tcp, "maxConnectionDuration", settings.max_connection_age);
    AddNote(tcp->Unread(), settings.notes);
  }
  std::optional<Section> http = section.Map("http");
  if (http.has_value()) {
    const std::optional<int64_t> retries = http->Whole("maxRetries");
    if (retries.has_value()) {
      settings.notes.push_back(absl::StrCat(
          "connectionPool.http.maxRetries: ", *retries,
          " has no equivalent: the budget bounds the share of retries among the calls."));
    }
    const std::vector<std::string> left = http->Left();
    if (!left.empty()) {
      settings.notes.push_back(absl::StrCat("connectionPool.http has no equivalent for ",
                                            absl::StrJoin(left, ", "), "."));
    }
  }
  AddNote(section.Unread(), settings.notes);
}

void ReadAltNames(Section& section, TlsDraft& tls) {
  for (const Item& item : section.List("subjectAltNames")) {
    const std::optional<std::string> text = section.source().AsText(item);
    if (!text.has_value()) continue;
    const std::string name = absl::StrCat(absl::StrContains(*text, "://") ? "uri:" : "dns:", *text);
    if (ParseText(FieldRule::ALT_NAME, name).ok()) {
      tls.subject_alt_names.push_back(name);
    } else {
      section.source().Refuse(item.place,
                              absl::StrCat(Quoted(*text), " is not the name of a certificate"));
    }
  }
}

void ReadTls(Section section, ServiceSettings& settings) {
  const std::string mode = section.Text("mode").value_or("DISABLE");
  if (mode == "DISABLE") {
    AddNote(section.Unread(), settings.notes);
    return;
  }
  if (mode == "ISTIO_MUTUAL") {
    AddNote(section.Unread(), settings.notes);
    settings.notes.emplace_back(
        "tls.mode ISTIO_MUTUAL has no equivalent: the certificates belong to Istio's proxy. Name "
        "own "
        "ones in `tls`.");
    return;
  }
  if (mode != "SIMPLE" && mode != "MUTUAL") {
    section.Refuse(
        "mode", absl::StrCat(Quoted(mode), " is none of DISABLE, SIMPLE, MUTUAL and ISTIO_MUTUAL"));
    return;
  }
  Field<TlsDraft>& field = settings.tls;
  field.value.emplace();
  field.value->ca = "system";
  const std::string sni = section.Text("sni").value_or("");
  if (!sni.empty() && !ParseText(FieldRule::HOST_NAME, sni).ok()) {
    section.Refuse("sni", absl::StrCat(Quoted(sni), " is no host name"));
  }
  field.value->server_name = sni;
  ReadAltNames(section, *field.value);
  for (const auto& [key, own] : {std::pair{"caCertificates", "ca"},
                                 {"clientCertificate", "certificate"},
                                 {"privateKey", "key"}}) {
    const std::optional<std::string> file = section.Text(key);
    if (!file.has_value()) continue;
    field.notes.push_back(absl::StrCat(key, " ", Quoted(*file),
                                       ": make the file readable for Levee, "
                                       "and name it as `",
                                       own, "`."));
  }
  if (section.Flag("insecureSkipVerify").value_or(false)) {
    field.notes.emplace_back("insecureSkipVerify is left out: Levee checks the certificate.");
  }
  AddNote(section.Unread(), field.notes);
}

}  // namespace

void ReadDestinationRule(KubeObject& object, ServiceDraft& draft) {
  if (!object.spec.has_value()) return;
  Section& spec = *object.spec;
  const std::string host = spec.Text("host").value_or("");
  if (host.empty() || !AuthorityGlob(host).has_value()) {
    spec.Refuse("host", "must be given, a host");
    return;
  }
  const ServicePort service = ServiceOf(host, object.ns);
  ServiceSettings& settings = draft.Settings(service.ns, service.name);
  if (!settings.notes.empty()) {
    draft.draft().notes.push_back(
        absl::StrCat("Left out: ", object.Label(), ", since another one is for the same host."));
    return;
  }
  settings.notes.push_back(absl::StrCat("From ", object.Label(), "."));
  std::optional<Section> policy = spec.Map("trafficPolicy");
  if (policy.has_value()) {
    if (auto budget = policy->Map("retryBudget")) ReadBudget(*std::move(budget), settings.budget);
    if (auto outliers = policy->Map("outlierDetection")) {
      ReadOutlierDetection(*std::move(outliers), {"consecutive5xxErrors", "baseEjectionTime", ""},
                           settings.ejection);
    }
    if (auto pool = policy->Map("connectionPool")) ReadPool(*std::move(pool), settings);
    if (auto tls = policy->Map("tls")) ReadTls(*std::move(tls), settings);
    AddNote(policy->Unread(), settings.notes);
  }
  spec.Ignore({"exportTo"});
  AddNote(spec.Unread(), settings.notes);
}

}  // namespace levee::importer
