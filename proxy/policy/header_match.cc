// SPDX-License-Identifier: Apache-2.0
#include "policy/header_match.h"

#include <re2/re2.h>

namespace levee {
namespace {

bool HoldsFor(const HeaderMatch& match, std::string_view value) {
  switch (match.test) {
    case HeaderTest::kExact:
      return value == match.text;
    case HeaderTest::kPrefix:
      return value.starts_with(match.text);
    case HeaderTest::kSuffix:
      return value.ends_with(match.text);
    case HeaderTest::kRegex:
      return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *match.regex);
    case HeaderTest::kPresent:
    case HeaderTest::kAbsent:
      return true;
  }
  return false;
}

}  // namespace

HeaderRegex CompileHeaderRegex(const std::string& text, std::string& error) {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // A value may have any bytes.
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kMaxRegexBytes);
  auto regex = std::make_shared<const re2::RE2>(text, options);
  if (regex->ok()) return regex;
  error = regex->error();
  return nullptr;
}

bool HeaderMatch::Holds(const Metadata& head) const {
  for (size_t i = 0; i < head.size(); ++i) {
    const Metadata::Field field = head[i];
    if (field.name == name && HoldsFor(*this, field.value)) return test != HeaderTest::kAbsent;
  }
  return test == HeaderTest::kAbsent;
}

bool Implies(const HeaderMatch& narrow, const HeaderMatch& wide) {
  if (narrow.name != wide.name) return false;
  if (narrow.test == wide.test && narrow.text == wide.text) return true;
  if (narrow.test == HeaderTest::kAbsent || wide.test == HeaderTest::kAbsent) return false;
  return wide.test == HeaderTest::kPresent ||
         (narrow.test == HeaderTest::kExact && HoldsFor(wide, narrow.text));
}

}  // namespace levee
