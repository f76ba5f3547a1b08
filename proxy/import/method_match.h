// SPDX-License-Identifier: Apache-2.0
// Which gRPC calls the match of a route takes, as the globs of a policy and what these cannot say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/draft.h"

namespace levee::importer {

// Whether there may be a text that both globs match. False only where there is none.
bool MayMeet(std::string_view a, std::string_view b);

struct MethodMatch {
  std::vector<std::string> globs = {"*"};  // a call of any of them may match; empty: of none
  std::vector<HeaderMatch> headers;        // which these calls have
  std::vector<std::string> conditions;     // on these calls, which no route of a policy can say
  std::string never;                       // why no gRPC call matches; empty: some do
  bool narrowed = false;                   // the globs take fewer calls, and a note says which
  Notes notes;
};

// Returns the match of the calls that both take.
MethodMatch Both(const MethodMatch& a, const MethodMatch& b);

// A condition on a header's value as other formats have them.
struct HeaderCondition {
  std::string name;
  std::optional<HeaderTest> test = std::nullopt;  // nullopt: one that no route of a policy has
  std::string value = {};                         // empty without a value to test
};

// Adds the condition to the headers of the match, or to its conditions if no route can say it;
// nothing if every gRPC call meets it, as `content-type` with the prefix application/grpc.
void AddHeader(const HeaderCondition& header, MethodMatch& match);

// Sets the globs to those of a regular expression for whole paths, or adds a condition if there are
// none that say the same.
void SetRegex(const std::string& regex, MethodMatch& match);

}  // namespace levee::importer
