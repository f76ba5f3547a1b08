// SPDX-License-Identifier: Apache-2.0
// Reads a VirtualService of Istio.
#pragma once

#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"
#include "import/source.h"

namespace levee::importer {

// Returns a route of Levee for each match of each of its routes, in their order.
std::vector<ServiceRoute> ReadVirtualService(KubeObject& object);

}  // namespace levee::importer
