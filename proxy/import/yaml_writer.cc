// SPDX-License-Identifier: Apache-2.0
#include "import/yaml_writer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "yaml-cpp/yaml.h"

namespace levee::importer {
namespace {

constexpr size_t kWidth = 100;

bool IsWord(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

YAML::Emitter& Emit(YAML::Emitter& out, const std::string& text) {
  return out << (IsWord(text) ? YAML::Auto : YAML::DoubleQuoted) << text;
}

}  // namespace

std::string YamlText(const std::string& text) {
  YAML::Emitter out;
  return Emit(out, text).c_str();
}

std::string YamlList(const std::vector<std::string>& texts) {
  YAML::Emitter out;
  out << YAML::Flow << YAML::BeginSeq;
  for (const std::string& text : texts) Emit(out, text);
  out << YAML::EndSeq;
  return out.c_str();
}

std::string YamlNumber(double number) { return absl::StrFormat("%.12g", number); }

std::string YamlDuration(absl::Duration duration) {
  // Abseil's zero has no unit.
  return duration == absl::ZeroDuration() ? "0s" : absl::FormatDuration(duration);
}

void YamlWriter::Comment(const std::string& text) {
  std::string line;
  const auto flush = [this, &line] {
    absl::StrAppend(&text_, std::string(indent_, ' '), "#", line, "\n");
    line.clear();
  };
  // Splitting at white space also removes line ends, after which the comment would be over.
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t\r\n\v\f"), absl::SkipEmpty())) {
    if (!line.empty() && indent_ + 1 + line.size() + 1 + word.size() > kWidth) flush();
    line += ' ';
    for (const char c : word) line += absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
  }
  flush();
}

void YamlWriter::CommentOut(const std::string& line) {
  absl::StrAppend(&text_, std::string(indent_, ' '), "# ", line, "\n");
}

void YamlWriter::Field(const std::string& key, const std::string& value) {
  Line(absl::StrCat(key, ": ", value));
}

void YamlWriter::Open(const std::string& key) {
  Line(absl::StrCat(key, ":"));
  indent_ += 2;
}

void YamlWriter::Close() { indent_ -= 2; }

void YamlWriter::BeginItem() {
  dash_ = true;
  indent_ += 2;
}

void YamlWriter::EndItem() { indent_ -= 2; }

void YamlWriter::Line(const std::string& line) {
  std::string indent(indent_, ' ');
  if (dash_) indent[indent_ - 2] = '-';
  dash_ = false;
  absl::StrAppend(&text_, indent, line, "\n");
}

}  // namespace levee::importer
