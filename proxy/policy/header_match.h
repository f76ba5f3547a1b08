// SPDX-License-Identifier: Apache-2.0
// A condition of a route on one header of a call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/enum_values.h"
#include "wire/metadata.h"

namespace re2 {
class RE2;
}

namespace levee {

enum class HeaderTest : uint8_t { kExact, kPrefix, kSuffix, kRegex, kPresent, kAbsent };

// Returns its name in `match.headers`.
constexpr std::string_view HeaderTestName(HeaderTest test) {
  switch (test) {
    case HeaderTest::kExact:
      return "exact";
    case HeaderTest::kPrefix:
      return "prefix";
    case HeaderTest::kSuffix:
      return "suffix";
    case HeaderTest::kRegex:
      return "regex";
    case HeaderTest::kPresent:
      return "present";
    case HeaderTest::kAbsent:
      return "absent";
  }
  return "";
}
inline constexpr int kHeaderTests = CountValues(HeaderTestName);

// A route has at most so many of them.
inline constexpr int kMaxHeaderMatches = 16;

// An expression may take so many bytes when it is compiled, and about as many for each thread's
// steps through a value.
inline constexpr int64_t kMaxRegexBytes = 64 << 10;

// A regular expression (RE2) over the bytes of a value. Safe to use from any thread.
using HeaderRegex = std::shared_ptr<const re2::RE2>;

// Returns nullptr, and why in `error`, if the text is no expression, or one that is too large.
HeaderRegex CompileHeaderRegex(const std::string& text, std::string& error);

struct HeaderMatch {
  std::string name;  // in lower case
  HeaderTest test = HeaderTest::kPresent;
  std::string text;             // that of the test; empty for kPresent and kAbsent
  HeaderRegex regex = nullptr;  // of kRegex, compiled from `text`

  // Whether a head meets it. Of several values of the header any one may.
  bool Holds(const Metadata& head) const;
};

// Whether every head that meets `narrow` meets `wide`. False where that is not plain to see.
bool Implies(const HeaderMatch& narrow, const HeaderMatch& wide);

}  // namespace levee
