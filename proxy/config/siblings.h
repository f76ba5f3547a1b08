// SPDX-License-Identifier: Apache-2.0
// Checks the relations between the fields of one message, as far as annotations state them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "google/protobuf/message.h"

namespace levee {

// One message of the configuration before its defaults are filled in. It knows no field by name.
class Siblings {
 public:
  // Puts the fields that a value such as `preset: grpc` stands for into `message`, which is at
  // `path`, and notes in `positions` where they come from. The references must outlive this object.
  Siblings(const std::string& path, Positions& positions, google::protobuf::Message& message);

  // Reports fields that exclude each other, and fields that lack another one that they need.
  void Check(FaultList& faults) const;

  // Whether `field` is absent and would mean nothing beside the others. Then it has no default,
  // except for "none": a field that means nothing is none.
  bool IsMoot(const google::protobuf::FieldDescriptor& field) const;

 private:
  using Field = google::protobuf::FieldDescriptor;

  void Expand(const Field& field, google::protobuf::Message& message);
  void CheckExclusions(const Field& field, FaultList& faults) const;
  bool LacksNeed(const Field& field) const;
  std::string PathOf(const Field& field) const;
  const Field& Find(const std::string& name) const;

  const std::string& path_;
  Positions& positions_;
  const google::protobuf::Descriptor& type_;
  std::set<const Field*> given_;       // by the user
  std::set<const Field*> off_;         // of these, the ones that are `none` or false
  std::set<const Field*> from_short_;  // by short_
  std::string short_;                  // "preset grpc"
};

}  // namespace levee
