// SPDX-License-Identifier: Apache-2.0
#include "inject/workload.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "inject/sidecar_yaml.h"

namespace levee::inject {
namespace {

// Where the pod of a kind is described.
struct PodPlace {
  std::string_view kind;
  std::string_view group;  // with which apiVersion begins
  std::vector<std::string_view> path;
};

const std::array<PodPlace, 8>& PodPlaces() {
  static const std::array<PodPlace, 8> places = {{
      {"Deployment", "apps/", {"spec", "template"}},
      {"StatefulSet", "apps/", {"spec", "template"}},
      {"DaemonSet", "apps/", {"spec", "template"}},
      {"ReplicaSet", "apps/", {"spec", "template"}},
      {"ReplicationController", "v1", {"spec", "template"}},
      {"Job", "batch/", {"spec", "template"}},
      {"CronJob", "batch/", {"spec", "jobTemplate", "spec", "template"}},
      {"Pod", "v1", {}},
  }};
  return places;
}

void AddObjects(size_t number, const YamlValue& value, std::vector<Object>& objects) {
  const YamlValue* const items = value.Find("items");
  if (!value.TextAt("kind").ends_with("List") || items == nullptr) {
    objects.push_back({number, &value});
    return;
  }
  for (const YamlValue& item : items->values) AddObjects(number, item, objects);
}

// Where most kinds have their pod that others have defined, such as Argo's Rollout or Knative's
// Service.
const PodPlace& UsualPlace() {
  static const PodPlace place = {"", "", {"spec", "template"}};
  return place;
}

const PodPlace* PlaceOf(const YamlValue& object) {
  const std::string kind = object.TextAt("kind");
  const std::string version = object.TextAt("apiVersion");
  for (const PodPlace& place : PodPlaces()) {
    if (kind == place.kind && version.starts_with(place.group)) return &place;
  }
  return nullptr;
}

Workload At(const Object& object, const PodPlace& place) {
  Workload workload;
  workload.name = absl::StrCat("document ", object.number, ", ", NameOf(*object.value));
  workload.object = object.value;
  workload.passed.push_back(object.value);
  const YamlValue* at = object.value;
  for (const std::string_view step : place.path) {
    const auto index = at->IndexOf(step);
    if (!index.has_value()) return workload;
    workload.pod_key = &at->keys[*index];
    at = &at->values[*index];
    workload.passed.push_back(at);
  }
  if (at->is_map()) workload.pod = at;
  return workload;
}

}  // namespace

std::vector<Object> ObjectsOf(const std::vector<YamlValue>& documents) {
  std::vector<Object> objects;
  size_t number = 0;
  for (const YamlValue& document : documents) AddObjects(++number, document, objects);
  return objects;
}

std::string NameOf(const YamlValue& object) {
  const YamlValue* const metadata = object.Find("metadata");
  std::string name;
  if (metadata != nullptr) {
    name = metadata->TextAt("name");
    if (name.empty()) name = metadata->TextAt("generateName");
  }
  return absl::StrCat(object.TextAt("kind"), name.empty() ? "" : " ", name);
}

std::vector<Workload> WorkloadsOf(const std::vector<YamlValue>& documents) {
  std::vector<Workload> workloads;
  for (const Object& object : ObjectsOf(documents)) {
    if (const PodPlace* const place = PlaceOf(*object.value)) {
      workloads.push_back(At(object, *place));
      continue;
    }
    Workload other = At(object, UsualPlace());
    const YamlValue* const spec = other.pod != nullptr ? other.pod->Find("spec") : nullptr;
    if (spec == nullptr || spec->Find("containers") == nullptr) continue;
    other.known = false;
    workloads.push_back(std::move(other));
  }
  return workloads;
}

std::vector<const YamlValue*> ContainersOf(const YamlValue& spec) {
  std::vector<const YamlValue*> containers;
  for (const std::string_view list : {"initContainers", "containers"}) {
    const YamlValue* const found = spec.Find(list);
    if (found == nullptr) continue;
    for (const YamlValue& container : found->values) containers.push_back(&container);
  }
  return containers;
}

const YamlValue* LeveeOf(const YamlValue& spec) {
  for (const YamlValue* const container : ContainersOf(spec)) {
    if (container->TextAt("name") == kContainerName) return container;
  }
  return nullptr;
}

}  // namespace levee::inject
