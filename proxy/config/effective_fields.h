// SPDX-License-Identifier: Apache-2.0
// The fields of a complete configuration as they are shown: which of them, and their values.
#pragma once

#include <string>

#include "config/positions.h"
#include "google/protobuf/message.h"
#include "yaml-cpp/yaml.h"

namespace levee {

// Whether `field` of `message`, which is at `path`, is shown. An absent one is if it is `none` or
// an empty list; otherwise it means nothing here.
bool IsShown(const std::string& path, const google::protobuf::FieldDescriptor& field,
             const google::protobuf::Message& message, const Positions& positions);

// Whether `field` holds messages with fields of their own, at least one, and so has no value
// itself.
bool HasFields(const google::protobuf::FieldDescriptor& field,
               const google::protobuf::Message& message);

// Writes values of fields as YAML or, to an emitter that is set up for it, as JSON.
class ValueWriter {
 public:
  ValueWriter(bool json, YAML::Emitter& out) : json_(json), out_(out) {}

  // Writes what `field`, which is shown and not HasFields, has: a value, a list, a message that may
  // be a plain value, or `none`.
  void Write(const google::protobuf::FieldDescriptor& field,
             const google::protobuf::Message& message);

 private:
  void WriteOne(const google::protobuf::FieldDescriptor& field,
                const google::protobuf::Message& message, int index);
  void WriteText(const std::string& text);

  const bool json_;
  YAML::Emitter& out_;
};

}  // namespace levee
