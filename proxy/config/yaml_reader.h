// YAML -> protobuf by reflection, with the place of every value.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "google/protobuf/message.h"

namespace levee {

// Values read from one file, aliases counted each time they are used: a file of nested aliases
// must not grow into more than memory holds.
inline constexpr int kMaxYamlValues = 100'000;

// Reads the YAML document `text` into `message` (empty so far) and fills `positions`. Everything
// that is wrong with the YAML or its shape (unknown field, wrong type, duplicate key, several
// documents) goes to `faults`, and what it concerns is marked broken; what the values mean is not
// looked at. An empty document leaves everything as it is. `file` names the document in places.
// False if part of the document could not be read at all, so that what is in `message` says little.
bool ReadYaml(const std::string& file, const std::string& text, google::protobuf::Message& message,
              Positions& positions, FaultList& faults);

// Reads `mapping`, YAML out of config.proto, into `message`.
void ReadAnnotation(const std::string& mapping, google::protobuf::Message& message);

// Sets `field` of `message` to the default that its annotation gives; nothing if it gives none.
void ReadDefault(const google::protobuf::FieldDescriptor& field,
                 google::protobuf::Message& message);

}  // namespace levee
