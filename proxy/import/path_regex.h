// SPDX-License-Identifier: Apache-2.0
// Regular expressions for the paths of gRPC calls, as globs.
#pragma once

#include <string>
#include <vector>

namespace levee::importer {

struct PathGlobs {
  bool known = false;  // the globs say the same, or less if `narrowed`
  bool narrowed = false;
  std::vector<std::string> globs;  // empty: no path of a gRPC call matches
};

// Returns the globs of an expression that matches whole paths. They say the same where it is made
// of literal characters, `.*`, `.+`, `[^/]*`, `[^/]+`, alternatives and what is optional: a path
// is /SERVICE/METHOD, so neither part holds a slash or is empty. A dot that stands alone is read
// as a dot, and (?i) is left out; both take fewer paths.
PathGlobs GlobsOfRegex(const std::string& regex);

}  // namespace levee::importer
