// SPDX-License-Identifier: Apache-2.0
// Reads kgateway's TrafficPolicy.
#pragma once

#include <string>

#include "import/gateway_traffic.h"
#include "import/source.h"

namespace levee::importer {

// Returns the rules of the `spec` of a policy that comments call `label`.
TrafficRules ReadKgatewayRules(Section& spec, const std::string& label);

}  // namespace levee::importer
