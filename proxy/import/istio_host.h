// SPDX-License-Identifier: Apache-2.0
// Translates hosts as Istio names them.
#pragma once

#include <string>
#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee::importer {

// Returns the service that `host` stands for in an object of the namespace `ns`: a short name is
// one of `ns`. The namespace of another host is empty.
ServicePort ServiceOf(const std::string& host, const std::string& ns);

}  // namespace levee::importer
