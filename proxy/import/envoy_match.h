// SPDX-License-Identifier: Apache-2.0
// Translates Envoy's domains and route matches into globs.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "import/method_match.h"
#include "import/source.h"

namespace levee::importer {

// The order in which Envoy chooses among several domains for a call: exact ones first, then
// "*.shop", then "cart.*", then "*"; the longer of two wildcards. The smaller rank is chosen first.
struct DomainRank {
  int kind = 0;
  int length = 0;  // negative

  friend auto operator<=>(const DomainRank&, const DomainRank&) = default;
};
DomainRank RankDomain(const std::string& domain);

// Returns the glob of a domain; nullopt if the domain can match no call. Levee's "*" also matches
// no characters at all, but no authority is ".shop".
std::optional<std::string> AuthorityGlob(const std::string& domain);

MethodMatch ReadEnvoyMatch(Section match);

}  // namespace levee::importer
