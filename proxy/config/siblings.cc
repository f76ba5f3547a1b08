// SPDX-License-Identifier: Apache-2.0
#include "config/siblings.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "config/schema.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool HasField(const FieldDescriptor& field, const Message& message) {
  return field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) > 0
                             : message.GetReflection()->HasField(message, &field);
}

bool IsOff(const FieldDescriptor& field, const Message& message) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL && !field.is_repeated()) {
    return !message.GetReflection()->GetBool(message, &field);
  }
  return RuleOf(field).none() && !field.is_repeated() &&
         field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         message.GetReflection()->GetString(message, &field) == "none";
}

}  // namespace

Siblings::Siblings(const std::string& path, Positions& positions, Message& message)
    : path_(path), positions_(positions), type_(*message.GetDescriptor()) {
  for (int i = 0; i < type_.field_count(); ++i) {
    const Field& field = *type_.field(i);
    // A value that could not be read counts as well: its presence shows the intention.
    if (HasField(field, message) || positions_.Broken(PathOf(field))) given_.insert(&field);
    if (IsOff(field, message)) off_.insert(&field);
  }
  for (int i = 0; i < type_.field_count(); ++i) Expand(*type_.field(i), message);
}

void Siblings::Expand(const Field& field, Message& message) {
  if (field.enum_type() == nullptr || field.is_repeated() || !HasField(field, message)) return;
  const auto& value = *message.GetReflection()->GetEnum(message, &field);
  const std::string& mapping = value.options().GetExtension(config::v1::short_for);
  if (mapping.empty()) return;
  short_ = absl::StrCat(field.name(), " ", WordOf(value));
  const std::unique_ptr<Message> meant(message.New());
  ReadAnnotation(mapping, *meant);
  for (int i = 0; i < type_.field_count(); ++i) {
    const Field& set = *type_.field(i);
    if (!HasField(set, *meant) || given_.contains(&set)) continue;
    message.GetReflection()->SwapFields(&message, meant.get(), {&set});
    from_short_.insert(&set);
    positions_.SetShorthand(PathOf(set), short_);
  }
  message.GetReflection()->ClearField(&message, &field);
}

void Siblings::Check(FaultList& faults) const {
  for (int i = 0; i < type_.field_count(); ++i) {
    const Field& field = *type_.field(i);
    CheckExclusions(field, faults);
    if (!given_.contains(&field) || !LacksNeed(field)) continue;
    const config::v1::FieldRule::Need& need = RuleOf(field).needs();
    faults.Add(positions_.Find(PathOf(field)), CheckCode::kNeedsField,
               absl::StrCat("has no effect without ", need.field(), ": ", need.otherwise(),
                            "; give ", need.field(), " as well, or leave it out"));
  }
}

// A fault is placed at a value that the user gave: at the excluding field, or at the excluded ones.
void Siblings::CheckExclusions(const Field& field, FaultList& faults) const {
  if (off_.contains(&field)) return;
  std::vector<std::string> given;
  std::vector<std::string> from_short;
  for (const std::string& name : RuleOf(field).excludes()) {
    const Field& excluded = Find(name);
    if (given_.contains(&excluded) && !off_.contains(&excluded)) given.push_back(name);
    if (from_short_.contains(&excluded)) from_short.push_back(name);
  }
  if (given_.contains(&field)) {
    const Place place = positions_.Find(PathOf(field));
    if (!given.empty()) {
      faults.Add(place, CheckCode::kExclusiveFields,
                 absl::StrCat("excludes ", absl::StrJoin(given, ", "),
                              ", given too; use one or the other"));
    }
    if (!from_short.empty()) {
      faults.Add(place, CheckCode::kExclusiveFields,
                 absl::StrCat("excludes ", absl::StrJoin(from_short, ", "), ", which ", short_,
                              " sets; use one or the other"));
    }
  } else if (from_short_.contains(&field)) {
    for (const std::string& name : given) {
      faults.Add(positions_.Find(PathOf(Find(name))), CheckCode::kExclusiveFields,
                 absl::StrCat("is excluded by ", field.name(), ", which ", short_,
                              " sets; use one or the other"));
    }
  }
}

bool Siblings::LacksNeed(const Field& field) const {
  if (!RuleOf(field).has_needs()) return false;
  const auto lacks = [this](const std::string& name) {
    const Field& needed = Find(name);
    return !given_.contains(&needed) && !from_short_.contains(&needed);
  };
  const config::v1::FieldRule::Need& need = RuleOf(field).needs();
  return lacks(need.field()) && (need.or_field().empty() || lacks(need.or_field()));
}

bool Siblings::IsMoot(const Field& field) const {
  if (given_.contains(&field) || from_short_.contains(&field)) return false;
  if (LacksNeed(field)) return RuleOf(field).default_() != "none";
  for (int i = 0; i < type_.field_count(); ++i) {
    const Field& other = *type_.field(i);
    if (!given_.contains(&other) && !from_short_.contains(&other)) continue;
    if (off_.contains(&other)) continue;
    for (const std::string& name : RuleOf(other).excludes()) {
      if (&Find(name) == &field) return true;
    }
  }
  return false;
}

std::string Siblings::PathOf(const Field& field) const {
  return path_.empty() ? field.name() : absl::StrCat(path_, ".", field.name());
}

const FieldDescriptor& Siblings::Find(const std::string& name) const {
  const Field* field = type_.FindFieldByName(name);
  LEVEE_CHECK(field != nullptr);  // Names come from config.proto.
  return *field;
}

}  // namespace levee
