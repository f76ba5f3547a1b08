// SPDX-License-Identifier: Apache-2.0
#include "doctor/pod_checks.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/load.h"
#include "config/values.h"
#include "inject/obstacles.h"
#include "inject/workload.h"
#include "inject/yaml_tree.h"

namespace levee::doctor {
namespace {

using inject::Obstacle;
using inject::Workload;
using inject::YamlValue;

// Returns the value at the end of the path; null if there is none.
const YamlValue* At(const YamlValue& value, std::initializer_list<std::string_view> path) {
  const YamlValue* at = &value;
  for (const std::string_view step : path) {
    if (at != nullptr) at = at->Find(step);
  }
  return at;
}

std::string TextAt(const YamlValue& value, std::initializer_list<std::string_view> path) {
  const YamlValue* const at = At(value, path);
  return at != nullptr ? at->text : "";
}

// Returns the bytes of a quantity of Kubernetes, as "128Mi"; 0 if they are not known.
int64_t BytesOf(const std::string& quantity) {
  int64_t bytes = 0;
  if (absl::SimpleAtoi(quantity, &bytes)) return bytes;
  return ParseSize(quantity + "B").value_or(0);
}

// The checks of one pod.
class PodChecks {
 public:
  PodChecks(const std::string& file, const std::vector<inject::Object>& objects,
            const Workload& workload, const YamlValue& levee, Findings& findings)
      : file_(file),
        objects_(objects),
        workload_(workload),
        spec_(*workload.pod->Find("spec")),
        levee_(levee),
        findings_(findings) {}

  void Run() {
    Sidecar();
    Order();
    Mount();
    Probes();
    Restricted();
    Resources();
    Neighbours();
    Policy();
  }

 private:
  void Sidecar();
  void Order();
  void Mount();
  void Probes();
  void Restricted();
  void Resources();
  void Neighbours();
  void Policy();
  void CheckPolicy(const YamlValue& policy);

  void Add(Severity severity, const char* code, std::string_view text, std::string cure = "") {
    findings_.push_back({severity, code,
                         absl::StrCat(file_, ": ", workload_.name, ": ", std::string(text)),
                         std::move(cure)});
  }

  // The volume that is mounted at /etc/levee; null if none is.
  const YamlValue* PolicyVolume() const;

  const std::string& file_;
  const std::vector<inject::Object>& objects_;
  const Workload& workload_;
  const YamlValue& spec_;
  const YamlValue& levee_;
  Findings& findings_;
};

void PodChecks::Sidecar() {
  if (inject::HasLevee(workload_)) {
    Add(Severity::kOk, "LD201", "Levee is a native sidecar");
  } else {
    Add(Severity::kWarning, "LD201",
        "Levee is not a native sidecar, so the application may start before it and outlive it",
        "from Kubernetes 1.29 on, use levee inject or the component sidecar");
  }
}

void PodChecks::Order() {
  if (&levee_ == inject::ContainersOf(spec_).front()) {
    Add(Severity::kOk, "LD202", "it starts first");
  } else {
    Add(Severity::kWarning, "LD202", "other containers start before it and cannot call through it",
        "let it come first in its list");
  }
}

const YamlValue* PodChecks::PolicyVolume() const {
  const YamlValue* const mounts = levee_.Find("volumeMounts");
  const YamlValue* const volumes = spec_.Find("volumes");
  if (mounts == nullptr || volumes == nullptr) return nullptr;
  for (const YamlValue& mount : mounts->values) {
    if (mount.TextAt("mountPath") != "/etc/levee" || mount.Find("subPath") != nullptr) continue;
    for (const YamlValue& volume : volumes->values) {
      if (volume.TextAt("name") == mount.TextAt("name")) return &volume;
    }
  }
  return nullptr;
}

void PodChecks::Mount() {
  if (PolicyVolume() != nullptr) {
    Add(Severity::kOk, "LD203", "the policy is mounted");
  } else {
    Add(Severity::kFault, "LD203",
        "no volume is mounted as a directory at /etc/levee, so there is no policy or its changes "
        "do not arrive",
        "mount the ConfigMap there, without subPath");
  }
}

void PodChecks::Probes() {
  for (const char* probe : {"startupProbe", "readinessProbe"}) {
    if (levee_.Find(probe) != nullptr) continue;
    Add(Severity::kWarning, "LD204",
        absl::StrCat("it has no ", probe, ", so calls may come before it is ready"),
        "ask /readyz on its metrics port");
    return;
  }
  Add(Severity::kOk, "LD204", "it has its probes");
}

void PodChecks::Restricted() {
  const YamlValue* const drop = At(levee_, {"securityContext", "capabilities", "drop"});
  const bool drops_all =
      drop != nullptr && drop->values.size() == 1 && drop->values[0].text == "ALL";
  const bool restricted =
      TextAt(levee_, {"securityContext", "runAsNonRoot"}) == "true" &&
      TextAt(levee_, {"securityContext", "allowPrivilegeEscalation"}) == "false" &&
      TextAt(levee_, {"securityContext", "seccompProfile", "type"}) == "RuntimeDefault" &&
      drops_all;
  if (restricted) {
    Add(Severity::kOk, "LD205", "it meets the restricted profile");
  } else {
    Add(Severity::kWarning, "LD205", "it does not meet the restricted profile of Pod Security",
        "give it the securityContext of deploy/kubernetes/pod/pod.yaml");
  }
}

void PodChecks::Resources() {
  const std::string cpu = TextAt(levee_, {"resources", "limits", "cpu"});
  const std::string memory = TextAt(levee_, {"resources", "limits", "memory"});
  if (!cpu.empty() && !memory.empty()) {
    Add(Severity::kOk, "LD206", absl::StrCat("its limits are ", cpu, " CPU and ", memory));
    return;
  }
  Add(Severity::kWarning, "LD206",
      absl::StrCat("it has no limit of ", cpu.empty() ? "CPU" : "memory",
                   cpu.empty() ? ", so it has a worker for each CPU of the node"
                               : ", so its limits adapt to the memory of the node"),
      "set resources.limits of both");
}

void PodChecks::Neighbours() {
  const std::vector<Obstacle> systems = inject::SystemObstacles(workload_);
  const std::vector<Obstacle> ports = inject::PortObstacles(workload_, {});
  const std::vector<Obstacle> proxies = inject::ProxyObstacles(workload_);
  for (const Obstacle& obstacle : systems) {
    Add(Severity::kFault, "LD207", obstacle.why, "take it out: levee inject --remove -f");
  }
  for (const Obstacle& obstacle : ports) {
    Add(Severity::kFault, "LD207", obstacle.why, "give the pod a network and the port to Levee");
  }
  for (const Obstacle& obstacle : proxies) {
    Add(Severity::kWarning, "LD207", obstacle.why, "turn its retries off");
  }
  if (systems.empty() && ports.empty() && proxies.empty()) {
    Add(Severity::kOk, "LD207", "nothing else in the pod is in its way");
  }
}

void PodChecks::Policy() {
  const YamlValue* const volume = PolicyVolume();
  const std::string name = volume != nullptr ? TextAt(*volume, {"configMap", "name"}) : "";
  for (const inject::Object& object : objects_) {
    if (object.value->TextAt("kind") != "ConfigMap" ||
        TextAt(*object.value, {"metadata", "name"}) != name) {
      continue;
    }
    const YamlValue* const policy = At(*object.value, {"data", "levee.yaml"});
    if (policy != nullptr) return CheckPolicy(*policy);
    return Add(Severity::kFault, "LD208", absl::StrCat("ConfigMap ", name, " has no levee.yaml"),
               "name the key of the policy levee.yaml");
  }
  Add(Severity::kOk, "LD208", "the policy is not in this file; check it with levee check");
}

void PodChecks::CheckPolicy(const YamlValue& policy) {
  const Room room = {.memory = BytesOf(TextAt(levee_, {"resources", "limits", "memory"})),
                     .descriptors = 0};
  const CheckedConfig checked =
      CheckConfig({{"levee.yaml", policy.text}}, std::nullopt, FaultList(), room);
  for (const Fault& fault : checked.faults) {
    Add(Severity::kFault, "LD208", FormatFault(fault), "docs/checks.md says what is right");
  }
  for (const Fault& warning : checked.warnings) {
    Add(Severity::kWarning, "LD208", FormatFault(warning), "docs/checks.md says what to do");
  }
  if (checked.snapshot == nullptr) return;
  const auto& metrics = checked.snapshot->metrics;
  const bool reached = metrics.has_value() && !absl::StartsWith(metrics->host, "127.") &&
                       metrics->host != "::1" && metrics->path.empty();
  if (!reached && At(levee_, {"startupProbe", "httpGet"}) != nullptr) {
    Add(Severity::kFault, "LD208",
        "the kubelet does not reach the metrics port of the policy, so the pod never starts",
        "set metrics: {address: 0.0.0.0:9461}");
  } else if (checked.warnings.empty()) {
    Add(Severity::kOk, "LD208", "the policy has neither faults nor warnings");
  }
}

}  // namespace

Findings CheckPods(const std::string& file, const std::string& text) {
  FaultList faults;
  const auto documents = inject::ReadYamlTree(file, text, faults);
  if (!documents.has_value()) {
    return {{Severity::kFault, "LD200", FormatFaults(faults.Sorted({file})), "correct the file"}};
  }
  Findings findings;
  const std::vector<inject::Object> objects = inject::ObjectsOf(*documents);
  bool found = false;
  std::vector<Obstacle> systems;  // of pods without Levee
  for (const Workload& workload : inject::WorkloadsOf(*documents)) {
    const YamlValue* const spec = workload.pod != nullptr ? workload.pod->Find("spec") : nullptr;
    const YamlValue* const levee = spec != nullptr ? inject::LeveeOf(*spec) : nullptr;
    if (levee == nullptr) {
      if (spec != nullptr) systems = inject::SystemObstacles(workload);
      continue;
    }
    found = true;
    PodChecks(file, objects, workload, *levee, findings).Run();
  }
  if (!found && !systems.empty()) {
    findings.push_back({Severity::kFault, "LD200",
                        absl::StrCat(file, ": no pod in it has a container levee, and none can: ",
                                     systems.front().why),
                        "leave it without"});
  } else if (!found) {
    findings.push_back({Severity::kFault, "LD200",
                        absl::StrCat(file, ": no pod in it has a container levee"),
                        "put it in: levee inject -f"});
  }
  return findings;
}

}  // namespace levee::doctor
