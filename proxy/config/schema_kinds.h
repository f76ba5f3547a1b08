// SPDX-License-Identifier: Apache-2.0
// Writes the texts that a configuration allows as JSON Schema.
#pragma once

#include "levee/config/v1/annotations.pb.h"
#include "yaml-cpp/yaml.h"

namespace levee {

// Emits, into the open object, the texts that the rule's kind allows.
void EmitTextKind(const config::v1::FieldRule& rule, YAML::Emitter& out);

}  // namespace levee
