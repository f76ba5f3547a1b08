// Envoy's domains and route matches as globs.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// Which of several domains Envoy takes for a call: exact ones before "*.shop", those before
// "cart.*", and all before "*"; of wildcards the longer one. Less is taken first.
struct DomainRank {
  int kind = 0;
  int length = 0;  // negative

  friend auto operator<=>(const DomainRank&, const DomainRank&) = default;
};
DomainRank RankDomain(const std::string& domain);

// The glob of a domain; nullopt if it can match no call. Levee's "*" matches an empty run too, but
// no authority is ".shop".
std::optional<std::string> AuthorityGlob(const std::string& domain);

struct MethodMatch {
  std::string glob = "*";
  // What else a call has to be, which no glob can say.
  std::vector<std::string> conditions;
  Notes notes;
};
MethodMatch ReadEnvoyMatch(Section match);

}  // namespace levee::importer
