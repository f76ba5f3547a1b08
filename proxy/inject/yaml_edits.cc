// SPDX-License-Identifier: Apache-2.0
#include "inject/yaml_edits.h"

#include <algorithm>

#include "base/json_text.h"
#include "yaml-cpp/yaml.h"

namespace levee::inject {
namespace {

void AppendJson(const YAML::Node& node, std::string& to);

void AppendEntries(const YAML::Node& node, std::string& to) {
  bool first = true;
  for (const auto& entry : node) {
    if (!first) to += ", ";
    first = false;
    if (node.IsMap()) {
      AppendJsonString(entry.first.Scalar(), to);
      to += ": ";
      AppendJson(entry.second, to);
    } else {
      AppendJson(entry, to);
    }
  }
}

void AppendJson(const YAML::Node& node, std::string& to) {
  if (node.IsMap() || node.IsSequence()) {
    to += node.IsMap() ? '{' : '[';
    AppendEntries(node, to);
    to += node.IsMap() ? '}' : ']';
    return;
  }
  const std::string& text = node.Scalar();
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const bool plain = node.Tag() == "?" && (number || text == "true" || text == "false");
  if (plain) {
    to += text;
  } else {
    AppendJsonString(text, to);
  }
}

}  // namespace

std::string Indented(std::string_view block, size_t spaces) {
  std::string lines;
  while (!block.empty()) {
    const size_t size = std::min(block.find('\n'), block.size() - 1) + 1;
    lines.append(spaces, ' ').append(block.substr(0, size));
    block.remove_prefix(size);
  }
  return lines;
}

bool YamlEdits::AddFirst(const YamlValue& key, const YamlValue& collection,
                         const std::string& entries) {
  if (collection.flow) {
    std::string json;
    AppendEntries(YAML::Load(entries), json);
    const size_t at = collection.at + 1;
    const bool ends_line = at < text_.size() && (text_[at] == '\n' || text_[at] == '\r');
    if (!collection.values.empty()) json += ends_line ? "," : ", ";
    edits_.push_back({at, 0, std::move(json)});
    return true;
  }
  const YamlValue& first = collection;  // A block collection begins where its first entry does.
  if (collection.values.empty() || first.line <= key.line) return false;
  std::string block = Indented(entries, first.column);
  const size_t at = lines_[key.line + 1];
  if (at >= 2 && text_[at - 2] == '\r') {
    for (size_t i = 0; (i = block.find('\n', i)) != std::string::npos; i += 2) {
      block.insert(i, 1, '\r');
    }
  }
  edits_.push_back({at, 0, std::move(block)});
  return true;
}

bool YamlEdits::Remove(const YamlValue& collection, const std::vector<size_t>& indices) {
  bool others_follow = false;
  for (size_t index = collection.values.size(); index-- > 0;) {
    if (std::find(indices.begin(), indices.end(), index) == indices.end()) {
      others_follow = true;
    } else if (collection.flow) {
      RemoveFlow(collection, index, others_follow);
    } else if (!RemoveBlock(collection, index)) {
      return false;
    }
  }
  return true;
}

bool YamlEdits::RemoveBlock(const YamlValue& collection, size_t index) {
  // The place of an entry of a list is that of its value; the dash stands at the list's column.
  const YamlValue& begin = collection.is_map() ? collection.keys[index] : collection.values[index];
  const size_t start = lines_[begin.line];
  if (text_.find_first_not_of(' ', start) - start != collection.column) return false;
  const size_t end =
      EndOfBlock(text_, lines_, begin.line, collection.column, collection.values[index]);
  edits_.push_back({start, lines_[end] - start, ""});
  return true;
}

void YamlEdits::RemoveFlow(const YamlValue& collection, size_t index, bool others_follow) {
  const YamlValue& value = collection.values[index];
  size_t begin = collection.is_map() ? collection.keys[index].at : value.at;
  size_t end = EndOfFlow(text_, value.at);
  if (others_follow) {
    end = text_.find(',', end) + 1;
    if (end < text_.size() && text_[end] == ' ') ++end;
  } else if (index > 0) {
    begin = text_.rfind(',', begin);
  }
  edits_.push_back({begin, end - begin, ""});
}

std::string YamlEdits::Apply() const {
  std::vector<Edit> edits = edits_;
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.at < b.at; });
  std::string text;
  size_t at = 0;
  for (const Edit& edit : edits) {
    text.append(text_, at, edit.at - at).append(edit.text);
    at = edit.at + edit.size;
  }
  return text.append(text_, at, std::string::npos);
}

}  // namespace levee::inject
