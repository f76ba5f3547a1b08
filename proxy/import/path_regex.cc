// SPDX-License-Identifier: Apache-2.0
#include "import/path_regex.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "config/values.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

constexpr size_t kMostGlobs = 64;
constexpr int kDeepestGroup = 16;

using Globs = std::vector<std::string>;

// Reads an expression from left to right. RE2 hands out no tree of what it has read.
class RegexReader {
 public:
  explicit RegexReader(std::string_view text) : text_(text) {}

  PathGlobs Read();

 private:
  Globs Alternatives(int depth);
  Globs Sequence(int depth);
  Globs Atom(int depth);
  Globs Group(int depth);
  Globs Class();
  Globs Quantified(Globs atom);
  void Append(const Globs& more, Globs& globs);
  bool Take(std::string_view literal);
  Globs Fail() {
    failed_ = true;
    return {};
  }

  std::string_view text_;
  bool failed_ = false;
  bool narrowed_ = false;
};

bool RegexReader::Take(std::string_view literal) {
  if (!text_.starts_with(literal)) return false;
  text_.remove_prefix(literal.size());
  return true;
}

// Adds each of `more` to each of `globs`.
void RegexReader::Append(const Globs& more, Globs& globs) {
  if (globs.size() * more.size() > kMostGlobs) {
    failed_ = true;
    return;
  }
  Globs joined;
  for (const std::string& glob : globs) {
    for (const std::string& end : more) {
      const bool stars = glob.ends_with('*') && end.starts_with('*');
      joined.push_back(glob + (stars ? end.substr(1) : end));
    }
  }
  globs = std::move(joined);
}

Globs RegexReader::Alternatives(int depth) {
  if (depth > kDeepestGroup) return Fail();
  Globs all = Sequence(depth);
  while (!failed_ && Take("|")) {
    for (std::string& glob : Sequence(depth)) all.push_back(std::move(glob));
  }
  return all.size() > kMostGlobs ? Fail() : all;
}

Globs RegexReader::Sequence(int depth) {
  Globs globs = {""};
  while (!failed_ && !text_.empty() && text_[0] != '|' && text_[0] != ')') {
    Append(Quantified(Atom(depth)), globs);
  }
  return globs;
}

Globs RegexReader::Atom(int depth) {
  if (Take("(")) return Group(depth);
  if (Take("[")) return Class();
  for (const char* any : {".*", ".+"}) {
    if (!Take(any)) continue;
    Take("?");  // As few as possible is the same for a whole path.
    return {"*"};
  }
  if (Take(".")) {
    narrowed_ = true;
    return {"."};
  }
  const bool escaped = Take("\\");
  if (text_.empty()) return Fail();
  const char c = text_[0];
  text_.remove_prefix(1);
  const bool letter = absl::ascii_isalnum(static_cast<unsigned char>(c));
  if (escaped ? letter : std::string_view("^$*+?{}]").find(c) != std::string_view::npos) {
    return Fail();
  }
  if (c == '*') return Fail();
  return {std::string(1, c)};
}

Globs RegexReader::Group(int depth) {
  if (Take("?") && !Take(":")) return Fail();
  Globs globs = Alternatives(depth + 1);
  return Take(")") ? globs : Fail();
}

// A class stands for one character, which no glob can say, unless it holds just one.
Globs RegexReader::Class() {
  for (const char* any : {"^/]+", "^/]*"}) {
    if (!Take(any)) continue;
    Take("?");
    return {"*"};
  }
  if (text_.size() < 2 || text_[1] != ']') return Fail();
  const char c = text_[0];
  text_.remove_prefix(2);
  if (c == '^' || c == '*') return Fail();
  return {std::string(1, c)};
}

Globs RegexReader::Quantified(Globs atom) {
  if (Take("?")) {
    atom.emplace_back("");
    return atom;
  }
  const bool repeats =
      !text_.empty() && std::string_view("*+{").find(text_[0]) != std::string_view::npos;
  return repeats ? Fail() : atom;
}

PathGlobs RegexReader::Read() {
  narrowed_ = Take("(?i)");
  Take("^");
  if (text_.ends_with('$') && !text_.ends_with("\\$")) text_.remove_suffix(1);
  PathGlobs read;
  Globs globs = Alternatives(0);
  if (failed_ || !text_.empty()) return read;
  for (std::string& glob : globs) {
    const bool again = std::find(read.globs.begin(), read.globs.end(), glob) != read.globs.end();
    if (!again && ParseText(FieldRule::METHOD_GLOB, glob).ok())
      read.globs.push_back(std::move(glob));
  }
  read.known = true;
  read.narrowed = narrowed_;
  return read;
}

}  // namespace

PathGlobs GlobsOfRegex(const std::string& regex) { return RegexReader(regex).Read(); }

}  // namespace levee::importer
