// What the fields of one message have to do with each other, as far as annotations say it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "google/protobuf/message.h"

namespace levee {

// One message of the configuration before its defaults are filled in. Knows no field by name.
class Siblings {
 public:
  // Puts the fields that a value such as `preset: grpc` is short for in its place. `path` leads to
  // `message`; both outlive this object.
  Siblings(const std::string& path, const Positions& positions, google::protobuf::Message& message);

  // Reports fields that exclude each other, and those that lack the one they need.
  void Check(FaultList& faults) const;

  // Whether `field` is absent and would mean nothing beside the others: it has no default then.
  bool IsMoot(const google::protobuf::FieldDescriptor& field) const;

 private:
  using Field = google::protobuf::FieldDescriptor;

  void Expand(const Field& field, google::protobuf::Message& message);
  void CheckExclusions(const Field& field, FaultList& faults) const;
  bool LacksNeed(const Field& field) const;
  std::string PathOf(const Field& field) const;
  const Field& Find(const std::string& name) const;

  const std::string& path_;
  const Positions& positions_;
  const google::protobuf::Descriptor& type_;
  std::set<const Field*> given_;       // by the user
  std::set<const Field*> from_short_;  // by what short_ is short for
  std::string short_;                  // "preset grpc"
};

}  // namespace levee
