// SPDX-License-Identifier: Apache-2.0
#include "config/field_checker.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "config/schema.h"
#include "config/siblings.h"
#include "config/values.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

using config::v1::FieldRule;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string ElementPath(const std::string& path, const FieldDescriptor& field, int index) {
  return field.is_repeated() ? absl::StrCat(path, "[", index, "]") : path;
}

int Size(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) return reflection.FieldSize(message, &field);
  return reflection.HasField(message, &field) ? 1 : 0;
}

// Returns a bound or a value as a number: seconds and bytes for texts with a unit.
double Magnitude(FieldRule::Kind kind, const std::string& text) {
  double number;
  if (kind == FieldRule::TEXT && absl::SimpleAtod(text, &number)) return number;
  const absl::StatusOr<ParsedText> parsed = ParseText(kind, text);
  LEVEE_CHECK(parsed.ok());  // Bounds come from config.proto.
  return parsed->number;
}

// Returns what a fault adds about the words that stand in place of a value.
std::string Words(const FieldRule& rule) {
  if (rule.word().empty()) return "";
  return absl::StrCat("; say 20", rule.none() ? ", " : " or ", rule.word(),
                      rule.none() ? " or none" : "");
}

}  // namespace

void FieldChecker::CheckMessage(const std::string& path, Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const Siblings siblings(path, positions_, message);
  siblings.Check(faults_);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (siblings.IsMoot(field)) continue;
    const bool plain = &field == PlainValueOf(type);
    const std::string& name = field.name();
    // A plain value stands in place of its message, also in paths.
    CheckField(plain ? path : path.empty() ? name : absl::StrCat(path, ".", name), field, message);
  }
}

void FieldChecker::CheckField(const std::string& path, const Field& field, Message& message) {
  if (positions_.Broken(path) || !Complete(path, field, message)) return;
  if (HoldsMessages(field)) {
    CheckMessages(path, field, message);
  } else {
    CheckValues(path, field, message);
  }
}

// Gives an absent field its default. Returns false if there is nothing to check then.
bool FieldChecker::Complete(const std::string& path, const Field& field, Message& message) {
  const FieldRule& rule = RuleOf(field);
  const bool given = positions_.Has(path);
  if (Size(field, message) > 0) return true;
  if (rule.required() && given) {
    faults_.Add(positions_.Find(path), CheckCode::kEmptyList, "is empty; give at least one");
  } else if (rule.required() && rule.default_().empty()) {
    faults_.Add(positions_.Find(path), CheckCode::kMissingField, "is missing; it must be given");
  }
  if (given) return false;  // `[]`, or a message that is `none`.
  const bool single_message = HoldsMessages(field) && !field.is_repeated();
  if (single_message && rule.default_().empty()) {
    message.GetReflection()->MutableMessage(&message, &field);
  } else if (!single_message || rule.default_() != "none") {
    ReadDefault(field, message);
  }
  return Size(field, message) > 0;
}

void FieldChecker::CheckMessages(const std::string& path, const Field& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) {
    CheckMessage(path, *reflection.MutableMessage(&message, &field));
    return;
  }
  for (int i = 0; i < Size(field, message); ++i) {
    const std::string element = ElementPath(path, field, i);
    if (positions_.Broken(element)) continue;
    CheckMessage(element, *reflection.MutableRepeatedMessage(&message, &field, i));
  }
  if (NameOf(field) != nullptr) CheckNames(path, field, message);
}

void FieldChecker::CheckNames(const std::string& path, const Field& field, const Message& message) {
  std::map<std::string, std::string> paths;  // by name
  for (int i = 0; i < Size(field, message); ++i) {
    const Message& element = message.GetReflection()->GetRepeatedMessage(message, &field, i);
    const std::string name = element.GetReflection()->GetString(element, NameOf(field));
    if (name.empty()) continue;
    const std::string name_path = absl::StrCat(ElementPath(path, field, i), ".name");
    const auto [first, is_new] = paths.emplace(name, name_path);
    if (is_new) continue;
    faults_.Add(positions_.Find(name_path), CheckCode::kDuplicateName,
                absl::StrCat(Quoted(name), " is given twice; first at ",
                             FormatPlace(positions_.Find(first->second))));
  }
}

void FieldChecker::CheckValues(const std::string& path, const Field& field, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    CheckNumber(path, field, message);
    return;
  }
  for (int i = 0; i < Size(field, message); ++i) {
    const std::string element = ElementPath(path, field, i);
    if (positions_.Broken(element)) continue;
    std::string text = field.is_repeated() ? reflection.GetRepeatedString(message, &field, i)
                                           : reflection.GetString(message, &field);
    CheckText(element, field, text);
    if (field.is_repeated()) {
      reflection.SetRepeatedString(&message, &field, i, text);
    } else {
      reflection.SetString(&message, &field, text);
    }
  }
}

// Replaces `text` with its canonical spelling if it has one.
void FieldChecker::CheckText(const std::string& path, const Field& field, std::string& text) {
  const FieldRule& rule = RuleOf(field);
  if (rule.none() && text == "none") return;
  if (!rule.word().empty() && text == rule.word()) return;
  const bool has_unit = rule.kind() == FieldRule::DURATION || rule.kind() == FieldRule::SIZE ||
                        rule.kind() == FieldRule::DURATION_OR_PERCENTILE;
  if (has_unit && text == "none") {
    faults_.Add(positions_.Find(path), CheckCode::kNotSwitchedOff,
                "cannot be switched off with none; give it a value");
    return;
  }
  const absl::StatusOr<ParsedText> parsed = ParseText(rule.kind(), text);
  if (!parsed.ok()) {
    faults_.Add(positions_.Find(path), CodeOf(rule.kind(), parsed.status()),
                absl::StrCat(parsed.status().message(), Words(rule)));
    return;
  }
  CheckBounds(path, field, parsed->number, text);
  text = parsed->canonical;
}

void FieldChecker::CheckNumber(const std::string& path, const Field& field,
                               const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    const int number = reflection.GetInt32(message, &field);
    CheckBounds(path, field, number, absl::StrCat(number));
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    const double number = reflection.GetDouble(message, &field);
    CheckBounds(path, field, number, absl::StrCat(number));
  }
}

void FieldChecker::CheckBounds(const std::string& path, const Field& field, double number,
                               const std::string& shown) {
  const FieldRule& rule = RuleOf(field);
  std::string bound;
  if (!rule.min().empty() && number < Magnitude(rule.kind(), rule.min())) {
    bound = absl::StrCat(" is too small; it must be at least ", rule.min());
  } else if (!rule.above().empty() && number <= Magnitude(rule.kind(), rule.above())) {
    bound = absl::StrCat(" is too small; it must be above ", rule.above(),
                         rule.none() ? ", or none" : "");
  } else if (!rule.max().empty() && number > Magnitude(rule.kind(), rule.max())) {
    bound = absl::StrCat(" is too large; it must be at most ", rule.max());
  }
  if (!bound.empty()) faults_.Add(positions_.Find(path), CheckCode::kOutOfRange, shown + bound);
}

}  // namespace levee
