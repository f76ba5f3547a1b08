// SPDX-License-Identifier: Apache-2.0
// Reads the routes of the Gateway API: GRPCRoute and HTTPRoute.
#pragma once

#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee::importer {

// Returns a route of Levee for each match of each rule, with the timeouts and retries of the rule.
// Notes about the route as a whole are those of the first one.
std::vector<ServiceRoute> ReadGatewayRoute(KubeObject& object);

}  // namespace levee::importer
