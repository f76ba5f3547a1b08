// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_policy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/values.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

// The defaults of the Gateway API.
constexpr int64_t kDefaultPercent = 20;
constexpr absl::Duration kDefaultInterval = absl::Seconds(10);
constexpr int64_t kDefaultCount = 10;
constexpr absl::Duration kDefaultRateInterval = absl::Seconds(1);

// The bound of a policy's floor.
constexpr double kMostPerSecond = 1'000'000;

// Returns the names of the services that the policy is attached to.
std::vector<std::string> ReadTargets(const KubeObject& object, Section& spec, Notes& notes) {
  std::vector<std::string> names;
  if (!spec.Has("targetRefs")) spec.Refuse("targetRefs", "must be given");
  for (Section& target : spec.Maps("targetRefs")) {
    const std::string kind = target.Text("kind").value_or("Service");
    const std::string name =
        kind == "Service" ? ReadLabel(target, "name", true) : ReadObjectName(target, "name", true);
    const std::optional<std::string> port = target.Text("sectionName");
    target.Ignore({"group"});
    AddNote(target.Unread(), notes);
    if (kind != "Service") {
      notes.push_back(absl::StrCat(object.Label(), ": not read for ", kind, " ", Quoted(name),
                                   ", since only a Service has an equivalent."));
      continue;
    }
    if (port.has_value()) {
      notes.push_back(absl::StrCat(object.Label(), " is for port ", Quoted(*port), " of ", name,
                                   "; here it holds for all ports."));
    }
    names.push_back(name);
  }
  return names;
}

// Sets a field of a service that nothing has set before.
template <typename T>
void SetOnce(const KubeObject& object, const Field<T>& value, Field<T>& field, Notes& notes) {
  if (field.value.has_value()) {
    notes.push_back(absl::StrCat("Left out: ", object.Label(),
                                 ", since another one is attached to the same service."));
  } else {
    field = value;
  }
}

void ReadShare(Section& constraint, Field<BudgetDraft>& field) {
  int64_t percent = kDefaultPercent;
  absl::Duration interval = kDefaultInterval;
  std::optional<Section> budget = constraint.Map("budget");
  if (budget.has_value()) {
    percent = budget->Whole("percent").value_or(kDefaultPercent);
    interval = budget->Duration("interval").value_or(kDefaultInterval);
    if (percent < 0 || percent > 100) budget->Refuse("percent", "must be from 0 to 100");
    AddNote(budget->Unread(), field.notes);
  }
  field.value = BudgetDraft{.ratio = static_cast<double>(percent) / 100};
  SetWindow("budget.interval", interval, field);
}

void ReadLeastRate(Section& constraint, Field<BudgetDraft>& field) {
  int64_t count = kDefaultCount;
  absl::Duration interval = kDefaultRateInterval;
  std::optional<Section> rate = constraint.Map("minRetryRate");
  if (rate.has_value()) {
    count = rate->Whole("count").value_or(kDefaultCount);
    interval = rate->Duration("interval").value_or(kDefaultRateInterval);
    if (count < 0) rate->Refuse("count", "must not be negative");
    if (interval == absl::ZeroDuration()) rate->Refuse("interval", "must be above 0s");
    AddNote(rate->Unread(), field.notes);
  }
  if (interval == absl::ZeroDuration()) return;
  const double per_second = static_cast<double>(count) / absl::ToDoubleSeconds(interval);
  field.value->per_second = std::min(per_second, kMostPerSecond);
  if (per_second > kMostPerSecond) {
    field.notes.emplace_back("minRetryRate: the minimum (floor) is at most 1000000 a second.");
  }
  field.notes.emplace_back(
      "minRetryRate is the minimum (floor). In Levee it counts only while most attempts or most "
      "retries succeed.");
}

std::vector<std::string> ReadAltNames(Section& validation, Notes& notes) {
  std::vector<std::string> names;
  for (Section& entry : validation.Maps("subjectAltNames")) {
    const std::string type = entry.Text("type").value_or("");
    if (type != "Hostname" && type != "URI") {
      entry.Refuse("type", absl::StrCat(Quoted(type), " is neither Hostname nor URI"));
      continue;
    }
    const char* key = type == "URI" ? "uri" : "hostname";
    const std::string written = entry.Text(key).value_or("");
    const std::string name = absl::StrCat(type == "URI" ? "uri:" : "dns:", written);
    if (!ParseText(FieldRule::ALT_NAME, name).ok()) {
      entry.Refuse(key, absl::StrCat(Quoted(written), " is not the name of a certificate"));
    }
    AddNote(entry.Unread(), notes);
    names.push_back(name);
  }
  return names;
}

void ReadAuthorities(Section& validation, Field<TlsDraft>& field) {
  const std::string known = validation.Text("wellKnownCACertificates").value_or("");
  std::vector<std::string> refs;
  for (Section& ref : validation.Maps("caCertificateRefs")) {
    refs.push_back(absl::StrCat(ref.Text("kind").value_or("ConfigMap"), " ",
                                Quoted(ref.Text("name").value_or(""))));
    ref.Ignore({"group"});
    AddNote(ref.Unread(), field.notes);
  }
  if (known.empty() && refs.empty()) {
    validation.Refuse("caCertificateRefs", "must be given, or wellKnownCACertificates");
  }
  if (!known.empty() && known != "System") {
    validation.Refuse("wellKnownCACertificates", absl::StrCat(Quoted(known), " is not System"));
  }
  field.value->ca = "system";
  if (refs.empty()) return;
  field.notes.push_back(absl::StrCat(
      "caCertificateRefs: mount ", absl::StrJoin(refs, ", "),
      ", and name the file of its ca.crt as `ca`. Until then only certificates that the system "
      "trusts are taken."));
}

Field<TlsDraft> ReadTls(Section validation) {
  Field<TlsDraft> field;
  field.value.emplace();
  field.value->server_name = validation.Text("hostname").value_or("");
  if (!ParseText(FieldRule::HOST_NAME, field.value->server_name).ok()) {
    validation.Refuse("hostname", "must be given, a host name");
  }
  ReadAuthorities(validation, field);
  field.value->subject_alt_names = ReadAltNames(validation, field.notes);
  AddNote(validation.Unread(), field.notes);
  return field;
}

}  // namespace

void ReadXBackendTrafficPolicy(KubeObject& object, ServiceDraft& draft) {
  if (!object.spec.has_value()) return;
  Section& spec = *object.spec;
  Notes& notes = draft.draft().notes;
  const std::vector<std::string> names = ReadTargets(object, spec, notes);
  if (spec.Get("sessionPersistence").has_value()) {
    notes.push_back(absl::StrCat(object.Label(), ": sessionPersistence has no equivalent."));
  }
  std::optional<Section> constraint = spec.Map("retryConstraint");
  if (constraint.has_value()) {
    Field<BudgetDraft> field;
    field.notes.push_back(absl::StrCat("From ", object.Label(), "."));
    ReadShare(*constraint, field);
    ReadLeastRate(*constraint, field);
    AddNote(constraint->Unread(), field.notes);
    for (const std::string& name : names) {
      SetOnce(object, field, draft.Settings(object.ns, name).budget, notes);
    }
  }
  object.NoteUnread(spec, notes);
}

void ReadBackendTlsPolicy(KubeObject& object, ServiceDraft& draft) {
  if (!object.spec.has_value()) return;
  Section& spec = *object.spec;
  Notes& notes = draft.draft().notes;
  const std::vector<std::string> names = ReadTargets(object, spec, notes);
  std::optional<Section> validation = spec.Map("validation");
  if (!validation.has_value()) spec.Refuse("validation", "must be given");
  if (spec.Get("options").has_value()) {
    notes.push_back(absl::StrCat(object.Label(), ": options have no equivalent."));
  }
  object.NoteUnread(spec, notes);
  if (!validation.has_value()) return;
  Field<TlsDraft> field = ReadTls(*std::move(validation));
  field.notes.insert(field.notes.begin(), absl::StrCat("From ", object.Label(), "."));
  for (const std::string& name : names) {
    SetOnce(object, field, draft.Settings(object.ns, name).tls, notes);
  }
}

}  // namespace levee::importer
