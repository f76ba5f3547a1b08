// config.proto as a JSON Schema, for editors and linters.
#pragma once

#include <string>

#include "google/protobuf/descriptor.pb.h"

namespace levee {

// The schema (draft-07, which editors know best) of a configuration file, indented. `commented` is
// config.proto with all that it imports and with source information, for the descriptions.
//
// It accepts every file that Levee does, but for texts that YAML takes for numbers and that are not
// in quotes (`name: 7`). What only several fields together say, references and the fine print of
// addresses and names are left to `levee check`.
std::string ConfigSchema(const google::protobuf::FileDescriptorSet& commented);

}  // namespace levee
