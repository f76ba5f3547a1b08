// SPDX-License-Identifier: Apache-2.0
#include "config/effective_fields.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "config/schema.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool HasValue(const FieldDescriptor& field, const Message& message) {
  return field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) > 0
                             : message.GetReflection()->HasField(message, &field);
}

// Whether it has no effect beside a field that is given, and may not be given with it.
bool IsExcluded(const FieldDescriptor& field, const Message& message) {
  const google::protobuf::Descriptor& type = *field.containing_type();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& excluded = RuleOf(*type.field(i)).excludes();
    const bool named = std::find(excluded.begin(), excluded.end(), field.name()) != excluded.end();
    if (named && HasValue(*type.field(i), message)) return true;
  }
  return false;
}

// Whether a word needs no quotes: YAML takes it for text, and it is not a number with a leading
// zero, which some readers would take for octal.
bool StandsPlain(const std::string& text) {
  const bool octal = text.size() > 1 && text[0] == '0' &&
                     std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  return !octal && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

// Returns the shortest text that is read as exactly this number.
std::string NumberText(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace

bool IsShown(const std::string& path, const FieldDescriptor& field, const Message& message,
             const Positions& positions) {
  if (HasValue(field, message)) return true;
  if (!field.is_repeated()) return RuleOf(field).none() && !IsExcluded(field, message);
  return positions.Has(path) || !RuleOf(field).default_().empty();
}

bool HasFields(const FieldDescriptor& field, const Message& message) {
  return HoldsMessages(field) && PlainValueOf(*field.message_type()) == nullptr &&
         HasValue(field, message);
}

void ValueWriter::Write(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    out_ << YAML::Flow << YAML::BeginSeq;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) WriteOne(field, message, i);
    out_ << YAML::EndSeq;
    return;
  }
  if (!HasValue(field, message)) return WriteText("none");
  if (!HoldsMessages(field)) return WriteOne(field, message, -1);
  const Message& inner = reflection.GetMessage(message, &field);
  const google::protobuf::Descriptor& type = *field.message_type();
  if (const FieldDescriptor& plain = *PlainValueOf(type); HasValue(plain, inner)) {
    return WriteOne(plain, inner, -1);
  }
  out_ << YAML::Flow << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) {
    if (!HasValue(*type.field(i), inner)) continue;
    out_ << YAML::Key << type.field(i)->name() << YAML::Value;
    WriteOne(*type.field(i), inner, -1);
  }
  out_ << YAML::EndMap;
}

// `index`: in a list; -1: the field is none.
void ValueWriter::WriteOne(const FieldDescriptor& field, const Message& message, int index) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      out_ << reflection.GetInt32(message, &field);
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      out_ << YAML::Auto << NumberText(reflection.GetDouble(message, &field));
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      out_ << reflection.GetBool(message, &field);
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return WriteText(WordOf(index < 0 ? *reflection.GetEnum(message, &field)
                                        : *reflection.GetRepeatedEnum(message, &field, index)));
    default:
      return WriteText(index < 0 ? reflection.GetString(message, &field)
                                 : reflection.GetRepeatedString(message, &field, index));
  }
}

void ValueWriter::WriteText(const std::string& text) {
  out_ << (!json_ && StandsPlain(text) ? YAML::Auto : YAML::DoubleQuoted) << text;
}

}  // namespace levee
