// Writes YAML in block style with comments.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace levee::importer {

// Values as they stand behind a key. The emitter of yaml-cpp decides what has to be quoted; texts
// that are more than a word always are.
std::string YamlText(const std::string& text);
std::string YamlList(const std::vector<std::string>& texts);
std::string YamlNumber(double number);
std::string YamlDuration(absl::Duration duration);

// Lines at an indentation. yaml-cpp's own emitter is not used for them: it writes comments without
// indentation and an empty line before each.
class YamlWriter {
 public:
  // One paragraph, wrapped. Whatever is in `text`, it stays in the comment.
  void Comment(const std::string& text);

  // As it is; for lines of YAML that are not to be in force.
  void CommentOut(const std::string& line);

  // "key: value".
  void Field(const std::string& key, const std::string& value);

  // "key:", and what follows until Close() is indented below it.
  void Open(const std::string& key);
  void Close();

  // What follows until EndItem() is an element of a list; its first line gets the dash.
  void BeginItem();
  void EndItem();

  void EmptyLine() { text_ += "\n"; }

  const std::string& text() const { return text_; }

 private:
  void Line(const std::string& line);

  std::string text_;
  size_t indent_ = 0;
  bool dash_ = false;  // the next line begins an element
};

}  // namespace levee::importer
