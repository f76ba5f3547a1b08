// Text -> one YAML document.
#pragma once

#include <string>

#include "config/fault.h"
#include "yaml-cpp/yaml.h"

namespace levee {

// Parses `text`, which holds at most one document, into `root`: null if it is empty. False, with a
// fault, if it is no YAML or more than one document. `file` names the text in places.
bool ParseYamlDocument(const std::string& file, const std::string& text, YAML::Node& root,
                       FaultList& faults);

}  // namespace levee
