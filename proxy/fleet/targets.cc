// SPDX-License-Identifier: Apache-2.0
#include "fleet/targets.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace levee::fleet {
namespace {

constexpr std::array kNaming = {"service", "app", "app_kubernetes_io_name",
                                "pod",     "job", "instance"};

// The characters of which Kubernetes makes names that nobody has to remember.
constexpr std::string_view kMadeUp = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::string_view kDigits = "0123456789";
constexpr size_t kPodSuffix = 5;
constexpr size_t kShortestHash = 6, kLongestHash = 10;

// Takes the last part of `name`, with its hyphen, if it is of these characters and of such a size.
bool TakePart(std::string_view& name, std::string_view characters, size_t least, size_t most) {
  const size_t hyphen = name.rfind('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return false;
  const std::string_view part = name.substr(hyphen + 1);
  if (part.size() < least || part.size() > most) return false;
  if (part.find_first_not_of(characters) != std::string_view::npos) return false;
  name = name.substr(0, hyphen);
  return true;
}

std::string OwnerOfPod(std::string_view pod) {
  if (TakePart(pod, kMadeUp, kPodSuffix, kPodSuffix)) {
    TakePart(pod, kMadeUp, kShortestHash, kLongestHash);
  } else {
    TakePart(pod, kDigits, 1, kPodSuffix);
  }
  return std::string(pod);
}

MetricLabels TargetOf(MetricLabels labels) {
  for (const char* kind : kKinds) labels.erase(kind);
  labels.erase("__name__");
  return labels;
}

}  // namespace

std::string ApplicationOfTarget(const MetricLabels& labels, const std::string& by) {
  if (!by.empty()) return std::string(LabelOf(labels, by));
  for (const std::string label : kNaming) {
    const std::string_view value = LabelOf(labels, label);
    if (!value.empty()) return label == "pod" ? OwnerOfPod(value) : std::string(value);
  }
  return "";
}

std::vector<Sidecar> SidecarsOf(const std::vector<MetricSample>& samples, const std::string& by) {
  std::map<MetricLabels, std::vector<MetricSample>> targets;
  std::set<std::string_view> namespaces;
  for (const MetricSample& sample : samples) {
    targets[TargetOf(sample.labels)].push_back(sample);
    namespaces.insert(LabelOf(sample.labels, "namespace"));
  }
  std::vector<Sidecar> sidecars;
  for (const auto& [labels, own] : targets) {
    Sidecar& sidecar = sidecars.emplace_back();
    sidecar.application = ApplicationOfTarget(labels, by);
    const std::string space(LabelOf(labels, "namespace"));
    if (namespaces.size() > 1 && !space.empty()) absl::StrAppend(&sidecar.application, ".", space);
    sidecar.figures = AddUp(own);
  }
  return sidecars;
}

int CountReached(const std::vector<MetricSample>& samples,
                 const std::vector<MetricSample>& unreached) {
  std::set<MetricLabels> targets;
  for (const MetricSample& sample : samples) targets.insert(TargetOf(sample.labels));
  for (const MetricSample& sample : unreached) targets.erase(TargetOf(sample.labels));
  return static_cast<int>(targets.size());
}

}  // namespace levee::fleet
