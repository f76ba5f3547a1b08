// SPDX-License-Identifier: Apache-2.0
#include "import/method_match.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "config/fault.h"
#include "import/path_regex.h"

namespace levee::importer {
namespace {

constexpr std::string_view kGrpcType = "application/grpc";

enum class Verdict { kAlways, kNever, kOpen };

// All gRPC calls are POST, and their content-type begins like kGrpcType.
Verdict Judge(const HeaderCondition& header) {
  using Kind = HeaderCondition::Kind;
  const std::string name = absl::AsciiStrToLower(header.name);
  if (header.kind == Kind::kOther) return Verdict::kOpen;
  if (name == ":method" && header.kind == Kind::kExact) {
    return header.value == "POST" ? Verdict::kAlways : Verdict::kNever;
  }
  if (name != "content-type") return Verdict::kOpen;
  if (header.value.starts_with(kGrpcType)) {
    const bool all = header.kind == Kind::kPrefix && header.value == kGrpcType;
    return all ? Verdict::kAlways : Verdict::kOpen;
  }
  const bool begins = header.kind == Kind::kPrefix && kGrpcType.starts_with(header.value);
  return begins ? Verdict::kAlways : Verdict::kNever;
}

}  // namespace

void AddHeader(const HeaderCondition& header, MethodMatch& match) {
  switch (Judge(header)) {
    case Verdict::kAlways:
      return;
    case Verdict::kNever:
      match.never = absl::StrCat(header.name, " ", Quoted(header.value));
      return;
    case Verdict::kOpen:
      match.conditions.push_back(absl::StrCat("the header ", Quoted(header.name)));
      return;
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
