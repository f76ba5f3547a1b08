// SPDX-License-Identifier: Apache-2.0
// The values of a YAML text, each with its place, for edits that leave the rest as it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"

namespace levee::inject {

// A value of the text. Places are those of its first byte.
struct YamlValue {
  enum class Kind { kNull, kScalar, kMap, kList, kAlias };

  Kind kind = Kind::kNull;
  bool flow = false;    // a mapping in braces, a list in brackets
  bool marked = false;  // it has an anchor or a tag, which stand before its place
  size_t at = 0;        // offset in the text
  size_t line = 0;      // 0-based
  size_t column = 0;    // 0-based, in bytes
  std::string text;     // of a scalar
  // The entries of a mapping, in order: keys[i] has values[i]. A list has only values.
  std::vector<YamlValue> keys;
  std::vector<YamlValue> values;

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }

  // Returns the index of the entry `key` of a mapping; nullopt if there is none.
  std::optional<size_t> IndexOf(std::string_view key) const;

  // Returns the value of `key`; null if this is no mapping, or has no such entry.
  const YamlValue* Find(std::string_view key) const;

  // Returns the scalar at `key` as it is written; empty if there is none.
  std::string TextAt(std::string_view key) const;
};

// Returns the documents of `text`, which `file` names in faults; nullopt, with a fault, if it is
// not YAML.
std::optional<std::vector<YamlValue>> ReadYamlTree(const std::string& file, const std::string& text,
                                                   FaultList& faults);

// Returns the offset at which each line of `text` begins, and at last the text's size.
std::vector<size_t> LineStarts(std::string_view text);

// Returns the offset behind a flow collection or a quoted scalar that begins at `at`, or behind a
// plain scalar within a flow collection.
size_t EndOfFlow(std::string_view text, size_t at);

// Returns the line behind the entry that begins at `line` with its key or dash at `column`, and
// whose value is `value`, in block style.
size_t EndOfBlock(std::string_view text, const std::vector<size_t>& lines, size_t line,
                  size_t column, const YamlValue& value);

}  // namespace levee::inject
