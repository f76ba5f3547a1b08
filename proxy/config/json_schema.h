// SPDX-License-Identifier: Apache-2.0
// Writes config.proto as a JSON Schema, for editors and linters.
#pragma once

#include <string>

#include "google/protobuf/descriptor.pb.h"

namespace levee {

// Returns the schema of a configuration file, indented (draft-07, which editors know best).
// `commented` is config.proto with all its imports and with source information, for the
// descriptions.
//
// The schema accepts every file that Levee accepts, except for texts without quotes that YAML takes
// for numbers (`name: 7`). Rules over several fields, references, and the details of addresses and
// names are left to `levee check`.
std::string ConfigSchema(const google::protobuf::FileDescriptorSet& commented);

}  // namespace levee
