// SPDX-License-Identifier: Apache-2.0
// The configurations of the demo's sidecar.
#pragma once

#include <string>

namespace levee::demo {

// The configuration of a sidecar beside the callers of the service at `service_address`: Levee's
// defaults, on ports that the system chooses.
std::string CallersConfig(const std::string& service_address);

// The same of a sidecar before the service, with a guard.
std::string GuardConfig(const std::string& service_address);

}  // namespace levee::demo
