// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_match.h"

#include <algorithm>
#include <tuple>
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
    result.globs = {std::move(glob)};
  } else {
    result.never = absl::StrCat("the path ", Quoted(*literal));
  }
}

void ReadHeaderRegex(Section& matcher, const char* key, HeaderCondition& read) {
  std::optional<Section> regex = matcher.Map(key);
  if (!regex.has_value()) return;
  read.test = HeaderTest::kRegex;
  read.value = regex->Text("regex").value_or("");
  regex->Ignore({"google_re2"});
  if (!regex->Left().empty()) read.value.clear();
}

// Only whether a header is there can be said the other way round.
void Invert(HeaderCondition& read) {
  if (read.test == HeaderTest::kPresent) {
    read.test = HeaderTest::kAbsent;
  } else if (read.test == HeaderTest::kAbsent) {
    read.test = HeaderTest::kPresent;
  } else {
    read.test.reset();
  }
}

// The rest of a matcher is part of its condition, and makes it one of another kind.
HeaderCondition ReadHeader(Section& header) {
  HeaderCondition read{.name = header.Text("name").value_or("")};
  std::optional<Section> match = header.Map("string_match");
  const auto set = [&read](HeaderTest test, std::optional<std::string> value) {
    if (!value.has_value()) return;
    read.test = test;
    read.value = *std::move(value);
  };
  for (const auto& [key, of_string, test] : {std::tuple{"exact_match", "exact", HeaderTest::kExact},
                                             {"prefix_match", "prefix", HeaderTest::kPrefix},
                                             {"suffix_match", "suffix", HeaderTest::kSuffix}}) {
    set(test, header.Text(key));
    if (match.has_value()) set(test, match->Text(of_string));
  }
  ReadHeaderRegex(header, "safe_regex_match", read);
  if (match.has_value()) ReadHeaderRegex(*match, "safe_regex", read);
  const std::optional<bool> present = header.Flag("present_match");
  const bool nothing = !read.test.has_value() && !match.has_value();
  if (present.has_value() || (nothing && header.Left().empty())) {
    read.test = present.value_or(true) ? HeaderTest::kPresent : HeaderTest::kAbsent;
  }
  if (header.Flag("invert_match").value_or(false)) Invert(read);
  const bool more = !header.Left().empty() || (match.has_value() && !match->Left().empty());
  if (more) read.test.reset();
  return read;
}

// No gRPC call has a query.
void ReadQuery(Section& parameter, MethodMatch& result) {
  const bool absent = !parameter.Flag("present_match").value_or(true);
  const std::string name = parameter.Text("name").value_or("");
  if (!absent) result.never = absl::StrCat("the query parameter ", Quoted(name));
  parameter.Ignore({"string_match"});
  for (const std::string& key : parameter.Left()) result.conditions.push_back(key);
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
    result.narrowed = true;
    result.notes.emplace_back(
        "case_sensitive: false has no equivalent: only methods spelled like this match.");
  }
  std::optional<Section> regex = match.Map("safe_regex");
  if (regex.has_value()) {
    SetRegex(regex->Text("regex").value_or(""), result);
    regex->Ignore({"google_re2"});
    AddNote(regex->Unread(), result.notes);
  }
  for (Section& header : match.Maps("headers")) AddHeader(ReadHeader(header), result);
  for (Section& parameter : match.Maps("query_parameters")) ReadQuery(parameter, result);
  for (const std::string& key : match.Left()) result.conditions.push_back(key);
  return result;
}

}  // namespace levee::importer
