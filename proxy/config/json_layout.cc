// SPDX-License-Identifier: Apache-2.0
#include "config/json_layout.h"

namespace levee {
namespace {

constexpr size_t kWidth = 100;

class Layout {
 public:
  explicit Layout(const std::string& json) : json_(json) {}

  // Writes the value that begins at `at`, in column `column` of a line with indentation `indent`.
  void Value(size_t indent, size_t column);

  const std::string& text() const { return text_; }

 private:
  size_t EndOfValue(size_t from) const;
  void Member(size_t indent);
  void Line(size_t indent) { text_ += "\n" + std::string(indent, ' '); }
  void SkipSpaces() {
    while (json_[at_] == ' ') ++at_;
  }

  const std::string& json_;
  size_t at_ = 0;
  std::string text_;
};

// Returns the position behind the last character of the value (or key) at `from`.
size_t Layout::EndOfValue(size_t from) const {
  int depth = 0;
  bool quoted = false;
  for (size_t i = from; i < json_.size(); ++i) {
    const char c = json_[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']')) {
      return i;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return json_.size();
}

void Layout::Value(size_t indent, size_t column) {
  const size_t end = EndOfValue(at_);
  const bool scalar = json_[at_] != '{' && json_[at_] != '[';
  if (scalar || column + (end - at_) < kWidth) {  // with room for the comma behind it
    text_ += json_.substr(at_, end - at_);
    at_ = end;
    return;
  }
  const char close = json_[at_] == '{' ? '}' : ']';
  text_ += json_[at_++];
  while (true) {
    Line(indent + 2);
    SkipSpaces();
    Member(indent + 2);
    if (json_[at_] == close) break;
    text_ += json_[at_++];  // the comma
  }
  Line(indent);
  text_ += json_[at_++];
}

void Layout::Member(size_t indent) {
  const size_t end = EndOfValue(at_);
  size_t column = indent;
  if (json_[end] == ':') {
    const std::string key = json_.substr(at_, end - at_) + ": ";
    text_ += key;
    column += key.size();
    at_ = end + 1;
    SkipSpaces();
  }
  Value(indent, column);
}

}  // namespace

std::string LayOutJson(const std::string& json) {
  Layout layout(json);
  layout.Value(0, 0);
  return layout.text() + "\n";
}

}  // namespace levee
