// SPDX-License-Identifier: Apache-2.0
// Reads a ServiceProfile of Linkerd.
#pragma once

#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee::importer {

// Returns the routes of the profile in their order, and one for the calls that none of them
// matches.
std::vector<ServiceRoute> ReadServiceProfile(KubeObject& object);

}  // namespace levee::importer
