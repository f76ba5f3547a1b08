// SPDX-License-Identifier: Apache-2.0
#include "inject/inject.h"

#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "inject/obstacles.h"
#include "inject/workload.h"
#include "inject/yaml_edits.h"
#include "inject/yaml_tree.h"

namespace levee::inject {
namespace {

// The edits of one text.
class TextWork {
 public:
  TextWork(const std::string& file, const std::string& text)
      : file_(file), edits_(text), documents_(ReadYamlTree(file, text, faults_)) {}

  // Empty if the text cannot be read, which is then a fault.
  std::vector<Workload> Workloads() const {
    return documents_.has_value() ? WorkloadsOf(*documents_) : std::vector<Workload>{};
  }

  void Refuse(const Workload& workload, const std::vector<Obstacle>& obstacles) {
    for (const Obstacle& obstacle : obstacles) {
      faults_.Add({file_, static_cast<int>(obstacle.at->line) + 1,
                   static_cast<int>(obstacle.at->column) + 1, workload.name},
                  CheckCode::kNone, obstacle.why);
    }
  }

  void Note(const YamlValue& at, std::string_view what, std::string_view note) {
    notes_.push_back(
        absl::StrCat(file_, ":", at.line + 1, ": ", std::string(what), ": ", std::string(note)));
  }

  // Services send calls past the guard until their ports say otherwise.
  void NoteServices() {
    if (!documents_.has_value()) return;
    for (const Object& object : ObjectsOf(*documents_)) {
      if (object.value->TextAt("kind") != "Service") continue;
      Note(*object.value, absl::StrCat("document ", object.number, ", ", NameOf(*object.value)),
           absl::StrCat("calls pass the guard once the targetPort of its gRPC port is ",
                        kGuardPort));
    }
  }

  void NoteIfNone(const std::vector<Workload>& workloads) {
    if (!workloads.empty() || !documents_.has_value()) return;
    notes_.push_back(absl::StrCat(file_, ": no workload is in it"));
  }

  YamlEdits& edits() { return edits_; }

  Injected Take() {
    if (!faults_.empty()) return {.text = "", .faults = faults_.Sorted({file_}), .notes = {}};
    return {.text = edits_.Apply(), .faults = {}, .notes = std::move(notes_)};
  }

 private:
  const std::string& file_;
  FaultList faults_;
  YamlEdits edits_;
  std::vector<std::string> notes_;
  const std::optional<std::vector<YamlValue>> documents_;
};

// How far the lists of a pod are indented below their keys.
size_t ListIndent(const YamlValue& spec) {
  const size_t index = *spec.IndexOf("containers");
  const YamlValue& list = spec.values[index];
  const size_t column = spec.keys[index].column;
  return list.flow || list.column < column ? 0 : list.column - column;
}

// Adds `items` before the others of the list `name` of the pod, which may not be there yet.
bool AddToList(const YamlValue& pod, const std::string& name, const std::string& items,
               YamlEdits& edits) {
  if (items.empty()) return true;
  const YamlValue& spec = *pod.Find("spec");
  if (const auto index = spec.IndexOf(name)) {
    return edits.AddFirst(spec.keys[*index], spec.values[*index], items);
  }
  const std::string entry = absl::StrCat(name, ":\n", Indented(items, ListIndent(spec)));
  return edits.AddFirst(pod.keys[*pod.IndexOf("spec")], spec, entry);
}

bool AddLabel(const Workload& workload, YamlEdits& edits) {
  const YamlValue& pod = *workload.pod;
  const auto index = pod.IndexOf("metadata");
  const std::string labels = absl::StrCat("labels:\n", Indented(LabelYaml(), 2));
  if (!index.has_value()) {
    return edits.AddFirst(*workload.pod_key, pod, absl::StrCat("metadata:\n", Indented(labels, 2)));
  }
  const YamlValue& metadata = pod.values[*index];
  if (const auto found = metadata.IndexOf("labels")) {
    return edits.AddFirst(metadata.keys[*found], metadata.values[*found], LabelYaml());
  }
  return edits.AddFirst(pod.keys[*index], metadata, labels);
}

constexpr std::string_view kNoRoom =
    "its layout is none that can be edited; write keys and values on lines of their own";

constexpr std::string_view kUnknownKind =
    "its kind is not known here, but it describes a pod; give --any-template, and its pods have "
    "Levee, or leave it out of the file";

void Add(const Workload& workload, const InjectOptions& options, TextWork& work) {
  std::vector<Obstacle> obstacles = LayoutObstacles(workload);
  if (obstacles.empty() && HasLevee(workload)) {
    work.Note(*workload.object, workload.name, "has Levee already; it stays as it is");
    return;
  }
  if (!workload.known && !options.any_template) {
    work.Refuse(workload, {{workload.object, std::string(kUnknownKind)}});
    return;
  }
  if (obstacles.empty()) obstacles = PodObstacles(workload, options);
  work.Refuse(workload, obstacles);
  if (!obstacles.empty()) return;
  YamlEdits& edits = work.edits();
  const bool added = AddLabel(workload, edits) &&
                     AddToList(*workload.pod, "initContainers", ContainersYaml(options), edits) &&
                     AddToList(*workload.pod, "volumes", VolumeYaml(options), edits) &&
                     AddToList(*workload.pod, "hostAliases", HostsYaml(options), edits);
  if (!added) work.Refuse(workload, {{workload.object, std::string(kNoRoom)}});
}

// Whether the entry of `parent` with the value `collection` was added together with `added` of the
// entries of `collection`, which are then all. An empty collection is written in braces or
// brackets, and Inject refuses it within others.
bool CameWith(size_t added, const YamlValue& parent, const YamlValue& collection) {
  return collection.values.size() == added && (!collection.flow || parent.flow);
}

bool IsOwn(std::string_view list, const YamlValue& item) {
  if (list == "hostAliases") return item.TextAt("ip") == kHostsAddress;
  const std::string name = item.TextAt("name");
  if (list == "volumes") return name == kVolumeName;
  return name == kContainerName || name == kCaptureName;
}

bool RemoveFromLists(const YamlValue& spec, YamlEdits& edits) {
  std::vector<size_t> keys;
  for (const std::string_view list : {"initContainers", "volumes", "hostAliases"}) {
    const auto key = spec.IndexOf(list);
    if (!key.has_value()) continue;
    const YamlValue& items = spec.values[*key];
    std::vector<size_t> own;
    for (size_t i = 0; i < items.values.size(); ++i) {
      if (IsOwn(list, items.values[i])) own.push_back(i);
    }
    if (own.empty()) continue;
    if (CameWith(own.size(), spec, items)) {
      keys.push_back(*key);
    } else if (!edits.Remove(items, own)) {
      return false;
    }
  }
  return edits.Remove(spec, keys);
}

bool RemoveLabel(const Workload& workload, YamlEdits& edits) {
  const YamlValue* const metadata = workload.pod->Find("metadata");
  const YamlValue* const labels = metadata != nullptr ? metadata->Find("labels") : nullptr;
  const auto label = labels != nullptr ? labels->IndexOf(kLabel) : std::nullopt;
  if (!label.has_value() || labels->values[*label].text != kLabelValue) return true;
  if (!CameWith(1, *metadata, *labels)) return edits.Remove(*labels, {*label});
  if (workload.pod_key != nullptr && CameWith(1, *workload.pod, *metadata)) {
    return edits.Remove(*workload.pod, {*workload.pod->IndexOf("metadata")});
  }
  return edits.Remove(*metadata, {*metadata->IndexOf("labels")});
}

}  // namespace

Injected Inject(const std::string& file, const std::string& text, const InjectOptions& options) {
  TextWork work(file, text);
  const std::vector<Workload> workloads = work.Workloads();
  for (const Workload& workload : workloads) Add(workload, options, work);
  work.NoteIfNone(workloads);
  if (options.guard) work.NoteServices();
  return work.Take();
}

Injected Remove(const std::string& file, const std::string& text) {
  TextWork work(file, text);
  for (const Workload& workload : work.Workloads()) {
    if (!HasLevee(workload)) continue;
    const std::vector<Obstacle> obstacles = LayoutObstacles(workload);
    work.Refuse(workload, obstacles);
    if (!obstacles.empty()) continue;
    const bool removed = RemoveLabel(workload, work.edits()) &&
                         RemoveFromLists(*workload.pod->Find("spec"), work.edits());
    if (!removed) work.Refuse(workload, {{workload.object, std::string(kNoRoom)}});
  }
  return work.Take();
}

}  // namespace levee::inject
