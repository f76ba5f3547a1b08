// SPDX-License-Identifier: Apache-2.0
// Writes YAML in block style with comments.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace levee::importer {

// Values as they stand after a key. yaml-cpp's emitter decides which texts need quotes; texts of
// more than one word always get them.
std::string YamlText(const std::string& text);
std::string YamlList(const std::vector<std::string>& texts);
std::string YamlNumber(double number);
std::string YamlDuration(absl::Duration duration);

// Lines at an indentation. yaml-cpp's own emitter is not used for them: it writes comments without
// indentation and an empty line before each.
class YamlWriter {
 public:
  // Writes one paragraph, wrapped. No `text` can end the comment.
  void Comment(const std::string& text);

  // Writes `line` unchanged as a comment; for lines of YAML that shall not take effect.
  void CommentOut(const std::string& line);

  // Writes "key: value".
  void Field(const std::string& key, const std::string& value);

  // Writes "key:"; the lines until Close() are indented below it.
  void Open(const std::string& key);
  void Close();

  // The lines until EndItem() are one element of a list; the first of them gets the dash.
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
