// SPDX-License-Identifier: Apache-2.0
// Writes the JSON Schema of annotated messages, for editors and linters.
#pragma once

#include <string>

#include "google/protobuf/descriptor.pb.h"

namespace levee {

// Returns the schema of a YAML file that holds the message `name`, indented (draft-07, which
// editors know best). `commented` is the file that defines it with all its imports and with source
// information, for the descriptions. `title`: what such a file is.
//
// The schema accepts every file that Levee accepts, except for texts without quotes that YAML takes
// for numbers (`name: 7`). Rules over several fields, references, and the details of addresses and
// names are left to `levee check` and `levee simulate`.
std::string SchemaOf(const google::protobuf::FileDescriptorSet& commented, const std::string& name,
                     const std::string& title);

}  // namespace levee
