// SPDX-License-Identifier: Apache-2.0
#include "inject/yaml_tree.h"

#include <algorithm>
#include <utility>

#include "config/yaml_document.h"
#include "yaml-cpp/yaml.h"

namespace levee::inject {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Builds the values of all documents from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& text)
      : lines_(LineStarts(text)),
        mark_size_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  std::vector<YamlValue> Take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Make(YamlValue::Kind::kNull, mark, "", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Make(YamlValue::Kind::kAlias, mark, "", anchor));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlValue value = Make(YamlValue::Kind::kScalar, mark, tag, anchor);
    value.text = text;
    Add(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Open(Make(YamlValue::Kind::kList, mark, tag, anchor), style);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(Make(YamlValue::Kind::kMap, mark, tag, anchor), style);
  }
  void OnMapEnd() override { Close(); }

 private:
  YamlValue Make(YamlValue::Kind kind, const YAML::Mark& mark, const std::string& tag,
                 YAML::anchor_t anchor) const {
    YamlValue value;
    value.kind = kind;
    // The parser's own tags are "?" for what is plain and "!" for what is in quotes.
    value.marked = anchor != 0 || tag.size() > 1;
    value.line = static_cast<size_t>(std::max(mark.line, 0));
    value.column = static_cast<size_t>(std::max(mark.column, 0));
    // The parser does not count the byte order mark.
    if (value.line == 0) value.column += mark_size_;
    value.line = std::min(value.line, lines_.size() - 1);
    value.at = std::min(lines_[value.line] + value.column, lines_.back());
    return value;
  }

  void Open(YamlValue value, YAML::EmitterStyle::value style) {
    value.flow = style == YAML::EmitterStyle::Flow;
    open_.push_back(std::move(value));
  }

  void Close() {
    YamlValue value = std::move(open_.back());
    open_.pop_back();
    Add(std::move(value));
  }

  void Add(YamlValue value) {
    if (open_.empty()) {
      documents_.push_back(std::move(value));
      return;
    }
    YamlValue& parent = open_.back();
    const bool key = parent.is_map() && parent.keys.size() == parent.values.size();
    (key ? parent.keys : parent.values).push_back(std::move(value));
  }

  const std::vector<size_t> lines_;
  const size_t mark_size_;
  std::vector<YamlValue> open_;  // collections, from the outermost to the innermost
  std::vector<YamlValue> documents_;
};

// Returns the offset behind the quoted scalar at `at`.
size_t EndOfQuotes(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote != '\'' || i + 1 == text.size() || text[i + 1] != quote) return i + 1;
      ++i;
    }
  }
  return text.size();
}

bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Whether a quoted scalar or a comment may begin at `at`: within a plain scalar both are letters.
bool BehindToken(std::string_view text, size_t at) {
  const char before = text[at - 1];
  return IsBlank(before) || before == ',' || before == '[' || before == '{' || before == ':';
}

// Returns the last value of `value` that is no block collection; null if that is no value, which
// ends where its key ends.
const YamlValue* LastLeaf(const YamlValue& value, size_t& line) {
  line = std::max(line, value.line);
  if (value.kind == YamlValue::Kind::kNull) return nullptr;
  const bool block = (value.is_map() || value.is_list()) && !value.flow;
  if (!block || value.values.empty()) return &value;
  if (value.is_map()) line = std::max(line, value.keys.back().line);
  const YamlValue& last = value.values.back();
  // The place of what is not there is that of what follows it.
  return last.kind == YamlValue::Kind::kNull ? nullptr : LastLeaf(last, line);
}

std::string_view Line(std::string_view text, const std::vector<size_t>& lines, size_t line) {
  return text.substr(lines[line], lines[line + 1] - lines[line]);
}

}  // namespace

std::optional<size_t> YamlValue::IndexOf(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].kind == Kind::kScalar && keys[i].text == key) return i;
  }
  return std::nullopt;
}

const YamlValue* YamlValue::Find(std::string_view key) const {
  const auto index = IndexOf(key);
  return index.has_value() ? &values[*index] : nullptr;
}

std::string YamlValue::TextAt(std::string_view key) const {
  const YamlValue* const value = Find(key);
  return value != nullptr ? value->text : "";
}

std::optional<std::vector<YamlValue>> ReadYamlTree(const std::string& file, const std::string& text,
                                                   FaultList& faults) {
  Builder builder(text);
  if (!ReadYamlStream(file, text, builder, faults)) return std::nullopt;
  return builder.Take();
}

std::vector<size_t> LineStarts(std::string_view text) {
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && i + 1 < text.size()) starts.push_back(i + 1);
  }
  starts.push_back(text.size());
  return starts;
}

size_t EndOfFlow(std::string_view text, size_t at) {
  if (IsQuote(text[at])) return EndOfQuotes(text, at);
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (i > at && BehindToken(text, i) && IsQuote(c)) {
      i = EndOfQuotes(text, i) - 1;
    } else if (c == '#' && i > at && IsBlank(text[i - 1])) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
      return i;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

size_t EndOfBlock(std::string_view text, const std::vector<size_t>& lines, size_t line,
                  size_t column, const YamlValue& value) {
  size_t last = line;
  const YamlValue* const leaf = LastLeaf(value, last);
  const char first = leaf != nullptr && leaf->at < text.size() ? text[leaf->at] : ' ';
  const bool text_block = first == '|' || first == '>';
  if (leaf != nullptr && (leaf->flow || IsQuote(first))) {
    const size_t end = EndOfFlow(text, leaf->at) - 1;
    while (last + 2 < lines.size() && lines[last + 1] <= end) ++last;
    return last + 1;
  }
  // A scalar of several lines goes on while lines are indented. Blank lines at its end are no part.
  for (size_t next = last + 1; leaf != nullptr && next + 1 < lines.size(); ++next) {
    const std::string_view rest = Line(text, lines, next);
    const size_t indent = rest.find_first_not_of(" \r\n");
    if (indent == std::string_view::npos) continue;
    if (indent <= column || (rest[indent] == '#' && !text_block)) break;
    last = next;
  }
  return last + 1;
}

}  // namespace levee::inject
