// What texts of a configuration may be, as JSON Schema says it.
#pragma once

#include "levee/config/v1/annotations.pb.h"
#include "yaml-cpp/yaml.h"

namespace levee {

// Emits, into the object that is open, what a text of the rule's kind may be.
void EmitTextKind(const config::v1::FieldRule& rule, YAML::Emitter& out);

}  // namespace levee
