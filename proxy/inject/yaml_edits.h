// SPDX-License-Identifier: Apache-2.0
// Entries that are put into a YAML text or taken out of it, while all other bytes stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inject/yaml_tree.h"

namespace levee::inject {

// Collects edits of one text, which must outlive it. An entry that was added is taken away again by
// Remove such that the text is the one from before, byte for byte.
class YamlEdits {
 public:
  explicit YamlEdits(const std::string& text) : text_(text), lines_(LineStarts(text)) {}

  // Puts `entries` before the others of `collection`, which is the value of `key`. `entries` is
  // YAML in block style: one or more of a list, "- name: a\n", or of a mapping, "a: 1\n". In a flow
  // collection they are written as JSON. Returns false if the layout has no room for it.
  bool AddFirst(const YamlValue& key, const YamlValue& collection, const std::string& entries);

  // Takes the entries with these indices of `collection` away, which are all that it is to lose.
  // Returns false if other values stand in their lines.
  bool Remove(const YamlValue& collection, const std::vector<size_t>& indices);

  // Returns the text with all edits.
  std::string Apply() const;

 private:
  struct Edit {
    size_t at;
    size_t size;  // bytes that go away
    std::string text;
  };

  bool RemoveBlock(const YamlValue& collection, size_t index);
  void RemoveFlow(const YamlValue& collection, size_t index, bool others_follow);

  const std::string& text_;
  const std::vector<size_t> lines_;
  std::vector<Edit> edits_;  // those at one place in their order
};

// Returns `block` with each of its lines behind `spaces` spaces.
std::string Indented(std::string_view block, size_t spaces);

}  // namespace levee::inject
