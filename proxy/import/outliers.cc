// SPDX-License-Identifier: Apache-2.0
#include "import/outliers.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

// The defaults of Envoy, and of Istio.
constexpr int64_t kDefaultFailures = 5;
constexpr absl::Duration kDefaultEjection = absl::Seconds(30);

// The bounds of a policy.
constexpr absl::Duration kLeastBase = absl::Milliseconds(100);
constexpr absl::Duration kMostBase = absl::Hours(1);
constexpr absl::Duration kMostPause = absl::Hours(24);
constexpr int64_t kMostFailures = 1'000'000;

void ReadPauses(Section& section, const OutlierKeys& keys, Field<EjectionDraft>& field) {
  const absl::Duration base = section.Duration(keys.base).value_or(kDefaultEjection);
  EjectionDraft& ejection = *field.value;
  ejection.base = std::clamp(base, kLeastBase, kMostBase);
  if (ejection.base != base) {
    field.notes.push_back(absl::StrCat(keys.base, " is ", YamlDuration(base),
                                       "; an endpoint is ejected for 100ms to 1h at first."));
  }
  if (keys.max.empty()) return;
  const std::optional<absl::Duration> max = section.Duration(keys.max);
  if (max.has_value()) ejection.max = std::clamp(*max, ejection.base, kMostPause);
}

}  // namespace

void ReadOutlierDetection(Section section, const OutlierKeys& keys, Field<EjectionDraft>& field) {
  const int64_t failures = section.Whole(keys.failures).value_or(kDefaultFailures);
  if (failures < 0) section.Refuse(keys.failures, "must not be negative");
  if (failures <= 0) {
    field.notes.push_back(absl::StrCat(keys.failures, ": 0 counts no failures in a row."));
  } else {
    field.value = EjectionDraft{.failures = static_cast<int>(std::min(failures, kMostFailures))};
    ReadPauses(section, keys, field);
    field.notes.emplace_back(
        "outlierDetection: failures are those of attempts (5xx and gRPC statuses alike); an "
        "endpoint is ejected only while others succeed, and looked at from time to time.");
  }
  AddNote(section.Unread(), field.notes);
}

}  // namespace levee::importer
