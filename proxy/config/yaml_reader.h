// SPDX-License-Identifier: Apache-2.0
// Reads YAML into protobuf by reflection, with the place of every value.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "google/protobuf/message.h"

namespace levee {

// The most values of one file. Aliases count each time they are used: a file of nested aliases must
// not grow beyond the memory.
inline constexpr int kMaxYamlValues = 100'000;

// Reads the YAML document `text` into `message`, which must be empty, and fills `positions`.
// Everything wrong with the YAML or its shape (unknown field, wrong type, duplicate key, several
// documents) goes to `faults`, and the value concerned is marked broken. The meaning of values is
// not checked. An empty document changes nothing. `file` names the document in places. Returns
// false if part of the document could not be read at all, so that `message` is incomplete.
bool ReadYaml(const std::string& file, const std::string& text, google::protobuf::Message& message,
              Positions& positions, FaultList& faults);

// Reads `mapping`, which is YAML from config.proto, into `message`.
void ReadAnnotation(const std::string& mapping, google::protobuf::Message& message);

// Sets `field` of `message` to the default that its annotation gives; nothing if it gives none.
void ReadDefault(const google::protobuf::FieldDescriptor& field,
                 google::protobuf::Message& message);

}  // namespace levee
