// SPDX-License-Identifier: Apache-2.0
// The workloads of Kubernetes in a YAML text: where their pods are described.
#pragma once

#include <string>
#include <vector>

#include "inject/yaml_tree.h"

namespace levee::inject {

// A Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob or Pod, or
// an object of another kind that has a pod where these have theirs. It points into the documents.
struct Workload {
  std::string name;                      // "document 2, Deployment web", for messages
  const YamlValue* object = nullptr;     // the whole
  const YamlValue* pod_key = nullptr;    // whose value is `pod`; null for a Pod
  const YamlValue* pod = nullptr;        // the mapping that has `metadata` and `spec` of the pod
  std::vector<const YamlValue*> passed;  // the mappings on the way to `pod`, it included
  bool known = true;                     // its kind is one of the above
};

// Returns the objects of all documents in their order: those of lists instead of the lists.
// `number`: from 1, of the document.
struct Object {
  size_t number;
  const YamlValue* value;
};
std::vector<Object> ObjectsOf(const std::vector<YamlValue>& documents);

// Returns "Deployment web" of an object.
std::string NameOf(const YamlValue& object);

// Returns the workloads of the documents in their order. `pod` is null where a workload's kind says
// that there is one, and none is there. A workload of another kind has its containers in
// `spec.template.spec`.
std::vector<Workload> WorkloadsOf(const std::vector<YamlValue>& documents);

// Returns the containers of `spec`, those of `initContainers` first.
std::vector<const YamlValue*> ContainersOf(const YamlValue& spec);

// Returns Levee's container of `spec`, be it a native sidecar or an ordinary one; null if there is
// none.
const YamlValue* LeveeOf(const YamlValue& spec);

}  // namespace levee::inject
