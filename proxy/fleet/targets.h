// SPDX-License-Identifier: Apache-2.0
// The sidecars behind Prometheus' samples.
#pragma once

#include <string>
#include <vector>

#include "base/exposition.h"
#include "fleet/graph.h"

namespace levee::fleet {

// Returns the application that a target's labels name: the value of `by`, or without `by` that of
// the first of service, app, app_kubernetes_io_name, pod, job and instance that there is. A pod's
// name ends before what a Deployment, DaemonSet or StatefulSet has added to it.
std::string ApplicationOfTarget(const MetricLabels& labels, const std::string& by);

// Groups samples by their target, which is all of their labels but those of Levee's own. If targets
// are of several namespaces, applications are named NAME.NAMESPACE.
std::vector<Sidecar> SidecarsOf(const std::vector<MetricSample>& samples, const std::string& by);

// Returns how many targets have samples and are none of `unreached`, which has a sample of each.
int CountReached(const std::vector<MetricSample>& samples,
                 const std::vector<MetricSample>& unreached);

}  // namespace levee::fleet
