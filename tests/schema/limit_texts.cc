// SPDX-License-Identifier: Apache-2.0
#include "schema/limit_texts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "config/schema.h"
#include "levee/config/v1/annotations.pb.h"

namespace levee {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr size_t kMaxColumns = 100;

// Without the comment there would be nothing to write.
std::string Described(const FieldDescriptor& field) {
  std::string comment = CommentOf(field);
  LEVEE_CHECK(!comment.empty() && !RuleOf(field).limit().when_reached().empty());
  return comment;
}

// `text` as comment lines of a YAML file, indented by two.
std::string CommentLines(const std::string& text) {
  std::string lines;
  std::string line = "  #";
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + 1 + word.size() > kMaxColumns) {
      absl::StrAppend(&lines, line, "\n");
      line = "  #";
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(lines, line, "\n");
}

std::string FirstSentence(const std::string& text) {
  const size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

// "1 to 100", "above 0s, or `none`".
std::string Range(const config::v1::FieldRule& rule) {
  std::string range = rule.above().empty() ? rule.min() : absl::StrCat("above ", rule.above());
  if (!rule.max().empty()) absl::StrAppend(&range, " to ", rule.max());
  if (rule.none()) absl::StrAppend(&range, ", or `none`");
  if (!rule.word().empty()) absl::StrAppend(&range, ", or `", rule.word(), "`");
  return range;
}

// The default as a table says it.
std::string Default(const config::v1::FieldRule& rule) {
  return rule.default_().empty() ? rule.limit().default_text() : rule.default_();
}

std::string Table(const Descriptor& limits, bool per_connection) {
  std::string text =
      "| limit, and label | default | may be | bounds | what happens at it |\n"
      "|---|---|---|---|---|\n";
  for (int i = 0; i < limits.field_count(); ++i) {
    const FieldDescriptor& field = *limits.field(i);
    const config::v1::FieldRule& rule = RuleOf(field);
    if (rule.limit().per_connection() != per_connection) continue;
    absl::StrAppend(&text, "| `", field.name(), "` | ", Default(rule), " | ", Range(rule), " | ",
                    Described(field), " | ", rule.limit().when_reached(), " |\n");
  }
  return text;
}

// Replaces what stands in `document` between `begin` and the `end` after it.
void Replace(const std::string& begin, const std::string& end, const std::string& text,
             std::string& document) {
  size_t from = document.find(begin);
  LEVEE_CHECK(from != std::string::npos);
  from += begin.size();
  const size_t to = document.find(end, from);
  LEVEE_CHECK(to != std::string::npos);
  document.replace(from, to - from, text);
}

}  // namespace

std::string WithDefaultLimits(const Descriptor& limits, std::string file) {
  std::string text;
  for (int i = 0; i < limits.field_count(); ++i) {
    const FieldDescriptor& field = *limits.field(i);
    const config::v1::FieldRule& rule = RuleOf(field);
    absl::StrAppend(&text, CommentLines(FirstSentence(Described(field))));
    if (rule.default_().empty()) {
      absl::StrAppend(&text, "  # ", field.name(), ": ", rule.limit().example(),
                      "  # default: ", rule.limit().default_text(), "\n");
    } else {
      absl::StrAppend(&text, "  ", field.name(), ": ", rule.default_(), "\n");
    }
  }
  Replace("\nlimits:\n", "\n# ", text, file);
  return file;
}

std::string WithLimitTables(const Descriptor& limits, std::string document) {
  Replace("<!-- limits of a connection, written by make schema -->\n", "<!-- end -->",
          Table(limits, true), document);
  Replace("<!-- limits of all, written by make schema -->\n", "<!-- end -->", Table(limits, false),
          document);
  return document;
}

}  // namespace levee
