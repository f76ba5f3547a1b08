// SPDX-License-Identifier: Apache-2.0
// Why a pod cannot have Levee beside it.
#pragma once

#include <string>
#include <vector>

#include "inject/sidecar_yaml.h"
#include "inject/workload.h"
#include "inject/yaml_tree.h"

namespace levee::inject {

// A reason, and the value of the text that it is about.
struct Obstacle {
  const YamlValue* at;
  std::string why;
};

// Whether the pod has Levee as a native sidecar.
bool HasLevee(const Workload& workload);

// Returns what makes it impossible to edit the workload's text: no pod, aliases and anchors on the
// way to the pod, entries that are given twice.
std::vector<Obstacle> LayoutObstacles(const Workload& workload);

// Returns what keeps Levee from its ports: the host's network, and ports of other containers. The
// layout must be without obstacles, here and below.
std::vector<Obstacle> PortObstacles(const Workload& workload, const InjectOptions& options);

// Returns what sends the pod to nodes of another system than Linux, for which Levee's image is.
std::vector<Obstacle> SystemObstacles(const Workload& workload);

// Returns what is, or asks for, a second proxy in the pod.
std::vector<Obstacle> ProxyObstacles(const Workload& workload);

// Returns everything in the pod that does not go with Levee: another system than Linux, the host's
// network, a port of Levee's, another proxy, names that Levee's parts have, a user who would not be
// captured. The pod must be without Levee.
std::vector<Obstacle> PodObstacles(const Workload& workload, const InjectOptions& options);

}  // namespace levee::inject
