// SPDX-License-Identifier: Apache-2.0
// Translates the matches of the Gateway API's rules into globs.
#pragma once

#include <optional>
#include <string>

#include "import/method_match.h"
#include "import/source.h"

namespace levee::importer {

// One of GRPCRoute's rules[].matches[].
MethodMatch ReadGrpcMatch(Section match);

// One of HTTPRoute's. Paths are read as those of gRPC calls: /SERVICE/METHOD.
MethodMatch ReadHttpMatch(Section match);

// Returns the glob of the paths below `prefix`, compared by their parts between slashes; nullopt if
// no gRPC call has such a path, or no glob can say it.
std::optional<std::string> PrefixGlob(const std::string& prefix);

}  // namespace levee::importer
