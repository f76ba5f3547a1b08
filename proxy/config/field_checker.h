// SPDX-License-Identifier: Apache-2.0
// The generic part of validation, by the annotations of config.proto.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "google/protobuf/message.h"

namespace levee {

// Completes and checks a message of the configuration, field by field: gives every absent field its
// default, brings texts into their canonical spelling, and reports fields that are missing,
// malformed, out of bounds, given twice, or excluded by another field. It knows
// no field by name; validate.h checks the other relations between fields. In the positions it notes
// the values that shorthands stand for.
class FieldChecker {
 public:
  FieldChecker(Positions& positions, FaultList& faults) : positions_(positions), faults_(faults) {}

  // `path` leads to `message`; empty for the whole configuration.
  void CheckMessage(const std::string& path, google::protobuf::Message& message);

 private:
  using Field = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;

  void CheckField(const std::string& path, const Field& field, Message& message);
  bool Complete(const std::string& path, const Field& field, Message& message);
  void CheckMessages(const std::string& path, const Field& field, Message& message);
  void CheckNames(const std::string& path, const Field& field, const Message& message);
  void CheckValues(const std::string& path, const Field& field, Message& message);
  void CheckText(const std::string& path, const Field& field, std::string& text);
  void CheckNumber(const std::string& path, const Field& field, const Message& message);
  void CheckBounds(const std::string& path, const Field& field, double number,
                   const std::string& shown);

  Positions& positions_;
  FaultList& faults_;
};

}  // namespace levee
