// SPDX-License-Identifier: Apache-2.0
// An explanation as JSON.
#pragma once

#include <string>

#include "lab/explanation.h"

namespace levee {

// {"route": "routes[1]", "policy": "patient", "values": [{"path", "value", "from"}], "retries":
// [{"n", "nominal_ms", ...}], "sentences": [...], ...}; docs/explain.md has every member. `route`
// and `policy` are null if no route matches.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace levee
