// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_match.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/values.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

void ReadEnvoyPath(Section& match, MethodMatch& result) {
  const std::optional<std::string> prefix = match.Text("prefix");
  const std::optional<std::string> path = match.Text("path");
  const std::optional<std::string> separated = match.Text("path_separated_prefix");
  const std::optional<std::string>& literal = prefix.has_value() ? prefix
                                              : path.has_value() ? path
                                                                 : separated;
  if (!literal.has_value()) return;
  const char* rest = prefix.has_value() ? "*" : path.has_value() ? "" : "/*";
  std::string glob = absl::StrCat(*literal, rest);
  if (literal->find('*') == std::string::npos && ParseText(FieldRule::METHOD_GLOB, glob).ok()) {
    result.glob = std::move(glob);
  } else {
    result.conditions.push_back(absl::StrCat("the path ", Quoted(*literal)));
  }
}

}  // namespace

DomainRank RankDomain(const std::string& domain) {
  const int length = -static_cast<int>(domain.size());
  if (domain == "*") return {3, 0};
  if (domain.starts_with('*')) return {1, length};
  if (domain.ends_with('*')) return {2, length};
  return {0, 0};
}

std::optional<std::string> AuthorityGlob(const std::string& domain) {
  const size_t stars = static_cast<size_t>(std::count(domain.begin(), domain.end(), '*'));
  const bool at_an_end = domain.starts_with('*') || domain.ends_with('*');
  if (stars > 1 || (stars == 1 && !at_an_end)) return std::nullopt;
  if (!ParseText(FieldRule::AUTHORITY_GLOB, domain).ok()) return std::nullopt;
  return domain;
}

MethodMatch ReadEnvoyMatch(Section match) {
  MethodMatch result;
  ReadEnvoyPath(match, result);
  match.Ignore({"grpc"});  // Every call is.
  if (!match.Flag("case_sensitive").value_or(true)) {
    result.notes.emplace_back(
        "case_sensitive: false has no equivalent: only methods spelled like this match.");
  }
  std::optional<Section> regex = match.Map("safe_regex");
  if (regex.has_value()) {
    result.conditions.push_back(
        absl::StrCat("safe_regex ", Quoted(regex->Text("regex").value_or(""))));
  }
  for (const std::string& key : match.Left()) result.conditions.push_back(key);
  return result;
}

}  // namespace levee::importer
