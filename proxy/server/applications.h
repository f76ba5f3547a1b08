// SPDX-License-Identifier: Apache-2.0
// The application of a sidecar, as its configuration has it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "settings/snapshot.h"

namespace levee {

// The names of upstreams, by the names of the inbound listeners that lead to them.
using Applications = std::map<std::string, std::set<std::string>>;

// Upstreams that dial what a call names are not among them.
Applications ApplicationsOf(const Snapshot& snapshot);

}  // namespace levee
