// SPDX-License-Identifier: Apache-2.0
// Short ways to say what an import makes of a text.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "import/import.h"

namespace levee {

// The faults of an import, one per line, as a user sees them; the file is called f.
inline std::string FaultsOfGrpc(const std::string& text) {
  return FormatFaults(ImportGrpcServiceConfig({{"f", text}}).faults);
}
inline std::string FaultsOfEnvoy(const std::string& text) {
  return FormatFaults(ImportEnvoy({{"f", text}}).faults);
}

// The policy of an import. A failed test if there is none, or if `levee check` finds fault with it.
inline std::string Checked(const ImportedPolicy& imported) {
  EXPECT_EQ(FormatFaults(imported.faults), "");
  EXPECT_EQ(FormatFaults(CheckConfig({{"out", imported.yaml}}, std::nullopt).faults), "")
      << imported.yaml;
  return imported.yaml;
}
inline std::string FromGrpc(const std::string& text) {
  return Checked(ImportGrpcServiceConfig({{"f", text}}));
}
inline std::string FromEnvoy(const std::string& text) {
  return Checked(ImportEnvoy({{"f", text}}));
}

// What becomes of a call with these headers by the policy: "cart, 3 attempts", or "none" without a
// route.
inline std::string CallIn(const std::string& yaml, const std::string& authority,
                          const std::string& method,
                          const std::vector<std::pair<std::string, std::string>>& headers = {}) {
  const auto snapshot = CheckConfig({{"out", yaml}}, std::nullopt).snapshot;
  if (snapshot == nullptr) return "no policy";
  Metadata head;
  for (const auto& [name, value] : headers) head.Add(name, value);
  const Route* route = snapshot->routes.Find(
      {.listener = {}, .authority = authority, .path = method, .peer = "", .headers = head});
  if (route == nullptr) return "none";
  const CallPolicy& policy = snapshot->policies[static_cast<size_t>(route->policy)];
  const int attempts = std::max(policy.retry.max_attempts,
                                policy.hedge.has_value() ? policy.hedge->max_attempts : 1);
  return absl::StrCat(snapshot->upstreams[static_cast<size_t>(route->upstream)].name, ", ",
                      attempts, attempts == 1 ? " attempt" : " attempts");
}

// Returns the text below the top-level key `key`.
inline std::string SectionOf(const std::string& yaml, const std::string& key) {
  const std::string start = absl::StrCat("\n", key, ":\n");
  const size_t begin = yaml.find(start);
  if (begin == std::string::npos) return "";
  const size_t from = begin + start.size();
  return yaml.substr(from, yaml.find("\n\n", from) + 1 - from);
}

// The same without its comments.
inline std::string ValuesOf(const std::string& yaml, const std::string& key) {
  std::string values;
  for (const absl::string_view line : absl::StrSplit(SectionOf(yaml, key), '\n')) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    if (!text.empty() && !absl::StartsWith(text, "#")) absl::StrAppend(&values, line, "\n");
  }
  return values;
}

// The policies without the one of calls that are tried once and nothing else.
inline std::string WithoutRest(std::string policies) {
  const std::string rest = "  - name: no-retries\n    retry:\n      max_attempts: 1\n";
  const size_t at = policies.find(rest);
  return at == std::string::npos ? policies : policies.erase(at, rest.size());
}

// All comments of the output as one text, as if they were not wrapped.
inline std::string CommentsOf(const std::string& yaml) {
  std::string comments;
  for (const absl::string_view line : absl::StrSplit(yaml, '\n')) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(text, "# ")) absl::StrAppend(&comments, text.substr(2), " ");
  }
  return comments;
}

}  // namespace levee
