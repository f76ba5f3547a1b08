// SPDX-License-Identifier: Apache-2.0
#include "import/method_match.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/fault.h"
#include "config/header_names.h"
#include "import/path_regex.h"
#include "policy/route_table.h"

namespace levee::importer {
namespace {

constexpr std::string_view kGrpcType = "application/grpc";

enum class Verdict { kAlways, kNever, kOpen };

// All gRPC calls are POST, and their content-type begins like kGrpcType.
Verdict Judge(const HeaderCondition& header) {
  const std::string name = absl::AsciiStrToLower(header.name);
  if (name == ":method" && header.test == HeaderTest::kExact) {
    return header.value == "POST" ? Verdict::kAlways : Verdict::kNever;
  }
  if (name != "content-type") return Verdict::kOpen;
  if (header.test == HeaderTest::kPresent) return Verdict::kAlways;
  if (header.test == HeaderTest::kAbsent) return Verdict::kNever;
  const bool prefix = header.test == HeaderTest::kPrefix;
  if (!prefix && header.test != HeaderTest::kExact) return Verdict::kOpen;
  if (header.value.starts_with(kGrpcType)) {
    return prefix && header.value == kGrpcType ? Verdict::kAlways : Verdict::kOpen;
  }
  return prefix && kGrpcType.starts_with(header.value) ? Verdict::kAlways : Verdict::kNever;
}

// Adds a condition that is not met by every call.
void AddOpen(HeaderMatch header, MethodMatch& match) {
  std::vector<HeaderMatch>& headers = match.headers;
  const auto other = std::find_if(headers.begin(), headers.end(), [&](const HeaderMatch& each) {
    return each.name == header.name;
  });
  if (other != headers.end() && Implies(*other, header)) return;
  if (other != headers.end() || headers.size() == kMaxHeaderMatches) {
    match.conditions.push_back(absl::StrCat("the header ", Quoted(header.name), " as well"));
    return;
  }
  headers.push_back(std::move(header));
}

// Returns the condition as a route of a policy has it; nullopt if none can.
std::optional<HeaderMatch> AsMatch(const HeaderCondition& header) {
  const absl::StatusOr<std::string> name = ParseHeaderName(header.name);
  if (!name.ok() || !header.test.has_value()) return std::nullopt;
  const bool valued = header.test != HeaderTest::kPresent && header.test != HeaderTest::kAbsent;
  if (valued && header.value.empty()) return std::nullopt;
  HeaderMatch match = {.name = *name, .test = *header.test, .text = header.value};
  if (match.test != HeaderTest::kRegex) return match;
  std::string error;
  match.regex = CompileHeaderRegex(match.text, error);
  if (match.regex == nullptr) return std::nullopt;
  return match;
}

// Returns the glob of the calls that two globs have in common, which is one of them, or nullopt if
// there is no such call or no such glob. `known` is false in the last case.
std::optional<std::string> Common(const std::string& a, const std::string& b, bool& known) {
  if (GlobMatch(a, b)) return b;
  if (GlobMatch(b, a)) return a;
  known = known && !MayMeet(a, b);
  return std::nullopt;
}

}  // namespace

bool MayMeet(std::string_view a, std::string_view b) {
  const size_t star_a = a.find('*'), star_b = b.find('*');
  if (star_a == std::string_view::npos) return GlobMatch(b, a);
  if (star_b == std::string_view::npos) return GlobMatch(a, b);
  const size_t begin = std::min(star_a, star_b);
  const size_t end = std::min(a.size() - a.rfind('*'), b.size() - b.rfind('*')) - 1;
  return a.substr(0, begin) == b.substr(0, begin) &&
         a.substr(a.size() - end) == b.substr(b.size() - end);
}

MethodMatch Both(const MethodMatch& a, const MethodMatch& b) {
  MethodMatch both = a;
  for (const HeaderMatch& header : b.headers) AddOpen(header, both);
  both.conditions.insert(both.conditions.end(), b.conditions.begin(), b.conditions.end());
  both.notes.insert(both.notes.end(), b.notes.begin(), b.notes.end());
  both.narrowed = a.narrowed || b.narrowed;
  if (both.never.empty()) both.never = b.never;
  bool known = true;
  std::vector<std::string> globs;
  for (const std::string& one : a.globs) {
    for (const std::string& other : b.globs) {
      std::optional<std::string> glob = Common(one, other, known);
      if (glob.has_value()) globs.push_back(*std::move(glob));
    }
  }
  if (known) {
    both.globs = std::move(globs);
    if (both.globs.empty() && both.never.empty()) both.never = "two paths";
  } else {
    both.conditions.push_back(absl::StrCat("the paths ", absl::StrJoin(b.globs, ", "), " as well"));
  }
  return both;
}

void AddHeader(const HeaderCondition& header, MethodMatch& match) {
  switch (Judge(header)) {
    case Verdict::kAlways:
      return;
    case Verdict::kNever:
      match.never = absl::StrCat(header.name, " ", Quoted(header.value));
      return;
    case Verdict::kOpen:
      break;
  }
  if (std::optional<HeaderMatch> said = AsMatch(header); said.has_value()) {
    AddOpen(*std::move(said), match);
  } else {
    match.conditions.push_back(absl::StrCat("the header ", Quoted(header.name)));
  }
}

void SetRegex(const std::string& regex, MethodMatch& match) {
  const PathGlobs read = GlobsOfRegex(regex);
  if (!read.known) {
    match.conditions.push_back(absl::StrCat("the regular expression ", Quoted(regex)));
    return;
  }
  match.globs = read.globs;
  if (read.globs.empty()) match.never = absl::StrCat("a path like ", Quoted(regex));
  if (!read.narrowed) return;
  match.narrowed = true;
  match.notes.push_back(absl::StrCat(
      "The regular expression ", Quoted(regex),
      " is read as it is meant: a dot that stands alone is a dot, and letters have their case."));
}

}  // namespace levee::importer
