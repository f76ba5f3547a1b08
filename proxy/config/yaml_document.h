// SPDX-License-Identifier: Apache-2.0
// Parses text into YAML documents, or into the events of one behind the other.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/yaml.h"

namespace levee {

// The language that the writer of a text has in mind. JSON is read as YAML, of which it is a part.
enum class TextFormat { kYaml, kJson };

// The functions below count the values of a text before anything is made of them, since a parsed
// value takes a hundred times as much memory as its text. Aliases count as one value here; who
// follows them counts by itself.

// Parses `text`, which may hold at most one document, into `root`; an empty text gives null.
// Returns false, with a fault, if the text is not YAML, has more than one document or more than
// `most_values` values. `file` names the text in places; faults call the text by its `format`.
bool ParseYamlDocument(const std::string& file, const std::string& text, int most_values,
                       YAML::Node& root, FaultList& faults, TextFormat format = TextFormat::kYaml);

// Parses all documents of `text` into `roots`. Returns false, with a fault, if the text is not
// YAML, has more than 10000 documents or more than `most_values` values.
bool ParseYamlDocuments(const std::string& file, const std::string& text, int most_values,
                        std::vector<YAML::Node>& roots, FaultList& faults);

// Tells `handler` of all documents of `text`, one behind the other. Returns false, with a fault, if
// the text is not YAML, has more than 10000 documents or a million values; the handler then knows a
// part of it.
bool ReadYamlStream(const std::string& file, const std::string& text, YAML::EventHandler& handler,
                    FaultList& faults);

}  // namespace levee
