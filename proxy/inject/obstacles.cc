// SPDX-License-Identifier: Apache-2.0
#include "inject/obstacles.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace levee::inject {
namespace {

using Obstacles = std::vector<Obstacle>;

// How containers of other proxies are known: by their names, or by a part of their images.
struct OtherProxy {
  std::string_view container;
  std::string_view image;
  std::string_view why;
};
constexpr std::string_view kMultiplies =
    "is a second proxy for the same calls, and its retries multiply with Levee's";
constexpr std::string_view kIstio =
    "is Istio's proxy, whose retries multiply with Levee's; the kustomize component with-istio "
    "joins both";
constexpr std::array<OtherProxy, 7> kOtherProxies = {{
    {"istio-proxy", "istio/proxyv2", kIstio},
    {"istio-init", "", kIstio},
    {"linkerd-proxy", "linkerd/proxy", kMultiplies},
    {"linkerd-init", "linkerd/proxy-init", kMultiplies},
    {"envoy", "envoyproxy/envoy", kMultiplies},
    {"consul-dataplane", "hashicorp/consul-dataplane", kMultiplies},
    {"kuma-sidecar", "kumahq/kuma-dp", kMultiplies},
}};

// A label or an annotation that asks a mesh to put its proxy in when the pod is created.
struct MeshRequest {
  std::string_view where;  // in the pod's metadata
  std::string_view key;
  std::string_view value;
  std::string_view why;
};
constexpr std::array<MeshRequest, 4> kMeshRequests = {{
    {"labels", "sidecar.istio.io/inject", "true", kIstio},
    {"annotations", "sidecar.istio.io/inject", "true", kIstio},
    {"annotations", "linkerd.io/inject", "enabled", kMultiplies},
    {"annotations", "consul.hashicorp.com/connect-inject", "true", kMultiplies},
}};

bool IsAnyOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

void AddIfShared(const YamlValue& value, Obstacles& obstacles) {
  if (value.kind == YamlValue::Kind::kAlias) {
    obstacles.push_back({&value, "this is an alias, and its anchor would change with it"});
  } else if (value.marked && value.kind != YamlValue::Kind::kScalar) {
    obstacles.push_back({&value, "this has an anchor or a tag; only plain values are edited"});
  }
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& key = value.keys[i].text;
    if (key == "<<") {
      obstacles.push_back({&value.keys[i], "this merges another mapping in; write it out"});
    } else if (value.IndexOf(key) != i) {
      obstacles.push_back({&value.keys[i], absl::StrCat(key, " is given twice")});
    }
  }
}

// Adds an obstacle if `map` has a `key` whose value is not of `kind`, or cannot be added to.
void AddIfOther(const YamlValue& map, std::string_view key, YamlValue::Kind kind,
                Obstacles& obstacles) {
  const YamlValue* const value = map.Find(key);
  if (value == nullptr) return;
  AddIfShared(*value, obstacles);
  if (value->kind == YamlValue::Kind::kAlias) return;
  const char* const wanted = kind == YamlValue::Kind::kMap ? "a mapping" : "a list";
  if (value->kind != kind) {
    const YamlValue& at = map.keys[*map.IndexOf(key)];
    obstacles.push_back(
        {&at,
         absl::StrCat(std::string(key), " is not ", wanted,
                      value->kind == YamlValue::Kind::kNull ? "; remove the empty entry" : "")});
  } else if (map.flow && value->values.empty()) {
    obstacles.push_back(
        {value, absl::StrCat(std::string(key), " is empty; remove the empty entry")});
  }
}

void AddPorts(const YamlValue& container, const InjectOptions& options, Obstacles& obstacles) {
  const YamlValue* const ports = container.Find("ports");
  if (ports == nullptr) return;
  for (const YamlValue& port : ports->values) {
    if (IsAnyOf(port.TextAt("protocol"), {"UDP", "SCTP"})) continue;
    const std::string number = port.TextAt("containerPort");
    const auto refuse = [&](uint16_t bound, std::string_view use) {
      if (number != std::to_string(bound)) return;
      obstacles.push_back({port.Find("containerPort"),
                           absl::StrCat("container ", container.TextAt("name"), " has port ",
                                        number, ", which Levee needs for ", std::string(use))});
    };
    for (const BoundPort& bound : kBoundPorts) refuse(bound.port, bound.use);
    if (options.guard) refuse(kGuardPort, "calls to the application");
    if (!options.capture.empty()) refuse(kCapturePort, "redirected connections");
  }
}

void AddProxies(const YamlValue& container, Obstacles& obstacles) {
  const std::string name = container.TextAt("name");
  const std::string image = container.TextAt("image");
  for (const OtherProxy& proxy : kOtherProxies) {
    const bool by_image = !proxy.image.empty() && image.find(proxy.image) != std::string::npos;
    if (name != proxy.container && !by_image) continue;
    obstacles.push_back(
        {&container, absl::StrCat("container ", name, " ", std::string(proxy.why))});
    return;
  }
}

void AddRequests(const YamlValue& metadata, Obstacles& obstacles) {
  for (const MeshRequest& request : kMeshRequests) {
    const YamlValue* const section = metadata.Find(request.where);
    const YamlValue* const value = section != nullptr ? section->Find(request.key) : nullptr;
    if (value == nullptr || value->text != request.value) continue;
    obstacles.push_back({value, absl::StrCat(std::string(request.key), ": what this puts in ",
                                             std::string(request.why))});
  }
}

// Adds what has a name that Levee's own parts need.
void AddNames(const YamlValue& pod, const YamlValue& spec, Obstacles& obstacles) {
  for (const YamlValue* container : ContainersOf(spec)) {
    const std::string name = container->TextAt("name");
    if (name == kContainerName) {
      obstacles.push_back({container, "a container levee is there, which is no native sidecar"});
    } else if (name == kCaptureName) {
      obstacles.push_back(
          {container, "a container levee-capture is there, but no container levee"});
    }
  }
  if (const YamlValue* const volumes = spec.Find("volumes")) {
    for (const YamlValue& volume : volumes->values) {
      if (volume.TextAt("name") == kVolumeName) {
        obstacles.push_back({&volume, "a volume levee is there, but no container levee"});
      }
    }
  }
  const YamlValue* const metadata = pod.Find("metadata");
  const YamlValue* const labels = metadata != nullptr ? metadata->Find("labels") : nullptr;
  if (labels != nullptr && labels->Find(kLabel) != nullptr) {
    obstacles.push_back({labels->Find(kLabel), "a label levee is there, but no container levee"});
  }
}

// Adds names that the pod leads to itself: nobody could tell them from those that lead to Levee.
void AddAliases(const YamlValue& spec, Obstacles& obstacles) {
  const YamlValue* const aliases = spec.Find("hostAliases");
  if (aliases == nullptr) return;
  for (const YamlValue& alias : aliases->values) {
    if (alias.TextAt("ip") != kHostsAddress) continue;
    obstacles.push_back(
        {&alias,
         absl::StrCat("hostAliases has an entry of ", kHostsAddress,
                      ", the address that Levee gives to names of services; remove the "
                      "entry, or give its names another address of loopback, such as 127.0.0.2")});
  }
}

// Adds users whose connections would not be redirected, since they are Levee's.
void AddUsers(const YamlValue& spec, Obstacles& obstacles) {
  std::vector<const YamlValue*> all = ContainersOf(spec);
  all.push_back(&spec);
  for (const YamlValue* const value : all) {
    const YamlValue* const context = value->Find("securityContext");
    const YamlValue* const user = context != nullptr ? context->Find("runAsUser") : nullptr;
    if (user == nullptr || user->text != kCapturingUser) continue;
    obstacles.push_back({user, absl::StrCat("user ", kCapturingUser,
                                            " is Levee's own, whose connections are left alone")});
  }
}

}  // namespace

bool HasLevee(const Workload& workload) {
  const YamlValue* const spec = workload.pod != nullptr ? workload.pod->Find("spec") : nullptr;
  const YamlValue* const list = spec != nullptr ? spec->Find("initContainers") : nullptr;
  if (list == nullptr) return false;
  return std::any_of(list->values.begin(), list->values.end(), [](const YamlValue& container) {
    return container.TextAt("name") == kContainerName &&
           container.TextAt("restartPolicy") == "Always";
  });
}

std::vector<Obstacle> LayoutObstacles(const Workload& workload) {
  Obstacles obstacles;
  for (const YamlValue* const passed : workload.passed) AddIfShared(*passed, obstacles);
  if (!obstacles.empty()) return obstacles;
  const YamlValue* const spec = workload.pod != nullptr ? workload.pod->Find("spec") : nullptr;
  if (spec == nullptr) return {{workload.object, "it describes no pod"}};
  AddIfOther(*workload.pod, "spec", YamlValue::Kind::kMap, obstacles);
  AddIfOther(*workload.pod, "metadata", YamlValue::Kind::kMap, obstacles);
  if (workload.pod_key == nullptr && workload.pod->Find("metadata") == nullptr) {
    obstacles.push_back({workload.object, "it has no metadata"});
  }
  if (!obstacles.empty()) return obstacles;
  for (const char* list : {"initContainers", "containers", "volumes", "hostAliases"}) {
    AddIfOther(*spec, list, YamlValue::Kind::kList, obstacles);
  }
  if (const YamlValue* const metadata = workload.pod->Find("metadata")) {
    AddIfOther(*metadata, "labels", YamlValue::Kind::kMap, obstacles);
  }
  const YamlValue* const containers = spec->Find("containers");
  if (containers == nullptr || containers->values.empty()) {
    obstacles.push_back({spec, "it has no containers"});
  }
  return obstacles;
}

std::vector<Obstacle> PortObstacles(const Workload& workload, const InjectOptions& options) {
  Obstacles obstacles;
  const YamlValue& spec = *workload.pod->Find("spec");
  const YamlValue* const host_network = spec.Find("hostNetwork");
  if (host_network != nullptr && IsAnyOf(host_network->text, {"true", "True", "TRUE"})) {
    obstacles.push_back(
        {host_network,
         "hostNetwork: Levee's ports would be ports of the node, where one pod alone can have "
         "them and every other can call through them"});
  }
  for (const YamlValue* const container : ContainersOf(spec)) {
    if (container->TextAt("name") != kContainerName) AddPorts(*container, options, obstacles);
  }
  return obstacles;
}

std::vector<Obstacle> SystemObstacles(const Workload& workload) {
  Obstacles obstacles;
  const YamlValue& spec = *workload.pod->Find("spec");
  const auto add_if_other = [&](const char* map, std::string_view key) {
    const YamlValue* const found = spec.Find(map);
    const YamlValue* const system = found != nullptr ? found->Find(key) : nullptr;
    if (system == nullptr || system->text == "linux") return;
    obstacles.push_back({system, absl::StrCat("the pod runs on ", system->text,
                                              ", and Levee's image is for Linux")});
  };
  add_if_other("os", "name");
  add_if_other("nodeSelector", "kubernetes.io/os");
  add_if_other("nodeSelector", "beta.kubernetes.io/os");
  return obstacles;
}

std::vector<Obstacle> ProxyObstacles(const Workload& workload) {
  Obstacles obstacles;
  for (const YamlValue* const container : ContainersOf(*workload.pod->Find("spec"))) {
    AddProxies(*container, obstacles);
  }
  if (const YamlValue* const metadata = workload.pod->Find("metadata")) {
    AddRequests(*metadata, obstacles);
  }
  return obstacles;
}

std::vector<Obstacle> PodObstacles(const Workload& workload, const InjectOptions& options) {
  Obstacles obstacles = SystemObstacles(workload);
  const auto append = [&obstacles](const Obstacles& more) {
    obstacles.insert(obstacles.end(), more.begin(), more.end());
  };
  append(PortObstacles(workload, options));
  AddNames(*workload.pod, *workload.pod->Find("spec"), obstacles);
  AddAliases(*workload.pod->Find("spec"), obstacles);
  if (!options.capture.empty()) AddUsers(*workload.pod->Find("spec"), obstacles);
  append(ProxyObstacles(workload));
  return obstacles;
}

}  // namespace levee::inject
