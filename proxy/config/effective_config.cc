// SPDX-License-Identifier: Apache-2.0
#include "config/effective_config.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "config/field_checker.h"
#include "config/json_emitter.h"
#include "config/schema.h"
#include "google/protobuf/text_format.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsGiven(const FieldDescriptor& field, const Message& message) {
  return field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) > 0
                             : message.GetReflection()->HasField(message, &field);
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

// Writes messages as YAML or, with an emitter that is set up for it, as JSON.
class Writer {
 public:
  Writer(const Positions& positions, bool json, YAML::Emitter& out)
      : positions_(positions), json_(json), out_(out) {}

  void WriteMessage(const std::string& path, const Message& message);

  const std::vector<std::string>& defaults() const { return defaults_; }

 private:
  void WriteField(const std::string& path, const FieldDescriptor& field, const Message& message,
                  const Message* fallback);
  void WriteLeaf(const FieldDescriptor& field, const Message& message);
  void WriteValue(const FieldDescriptor& field, const Message& message, int index);
  void WriteText(const std::string& text);
  std::unique_ptr<Message> DefaultsBesidePreset(const std::string& path, const Message& message);
  void MarkDefault(const std::string& path);

  const Positions& positions_;
  const bool json_;
  YAML::Emitter& out_;
  std::vector<std::string> defaults_;
};

void Writer::WriteMessage(const std::string& path, const Message& message) {
  const std::unique_ptr<Message> fallback = DefaultsBesidePreset(path, message);
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  out_ << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string at = path.empty() ? field.name() : absl::StrCat(path, ".", field.name());
    WriteField(at, field, message, fallback.get());
  }
  out_ << YAML::EndMap;
}

// Where a `preset` was given, which the message itself no longer shows, returns the message with
// all defaults, to compare with; nullptr elsewhere.
std::unique_ptr<Message> Writer::DefaultsBesidePreset(const std::string& path,
                                                      const Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::EnumDescriptor* words = type.field(i)->enum_type();
    if (words == nullptr || !positions_.Has(absl::StrCat(path, ".", type.field(i)->name()))) {
      continue;
    }
    if (!words->value(1)->options().HasExtension(config::v1::short_for)) continue;
    std::unique_ptr<Message> fallback(message.New());
    const Positions nowhere;
    FaultList ignored;
    FieldChecker(nowhere, ignored).CheckMessage(path, *fallback);
    return fallback;
  }
  return nullptr;
}

// An absent field means nothing here, or is `none` or an empty list by default.
void Writer::WriteField(const std::string& path, const FieldDescriptor& field,
                        const Message& message, const Message* fallback) {
  const bool given = positions_.Has(path);
  const bool present = IsGiven(field, message);
  const bool nothing =
      field.is_repeated() ? given || !RuleOf(field).default_().empty() : RuleOf(field).none();
  if (!present && !nothing) return;
  out_ << YAML::Key << field.name() << YAML::Value;
  const Reflection& reflection = *message.GetReflection();
  if (!present && !field.is_repeated()) {
    out_ << "none";
  } else if (present && IsMessage(field) && PlainValueOf(*field.message_type()) == nullptr) {
    if (!field.is_repeated()) return WriteMessage(path, reflection.GetMessage(message, &field));
    out_ << YAML::BeginSeq;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      WriteMessage(absl::StrCat(path, "[", i, "]"),
                   reflection.GetRepeatedMessage(message, &field, i));
    }
    out_ << YAML::EndSeq;
    return;
  } else {
    WriteLeaf(field, message);
  }
  if (given) return;
  const auto printed = [&field](const Message& of) {
    std::string text;
    if (!field.is_repeated() && IsGiven(field, of)) {
      google::protobuf::TextFormat::PrintFieldValueToString(of, &field, -1, &text);
    }
    return text;
  };
  if (fallback == nullptr || printed(message) == printed(*fallback)) MarkDefault(path);
}

void Writer::MarkDefault(const std::string& path) {
  defaults_.push_back(path);
  if (!json_) out_ << YAML::Comment("default");
}

// A value, a list of them, or a message that may be a plain value.
void Writer::WriteLeaf(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    out_ << YAML::Flow << YAML::BeginSeq;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) WriteValue(field, message, i);
    out_ << YAML::EndSeq;
    return;
  }
  if (!IsMessage(field)) return WriteValue(field, message, -1);
  const Message& inner = reflection.GetMessage(message, &field);
  const google::protobuf::Descriptor& type = *field.message_type();
  if (const FieldDescriptor& plain = *PlainValueOf(type); IsGiven(plain, inner)) {
    return WriteValue(plain, inner, -1);
  }
  out_ << YAML::Flow << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) {
    if (!IsGiven(*type.field(i), inner)) continue;
    out_ << YAML::Key << type.field(i)->name() << YAML::Value;
    WriteValue(*type.field(i), inner, -1);
  }
  out_ << YAML::EndMap;
}

// `index`: in a list; -1: the field is none.
void Writer::WriteValue(const FieldDescriptor& field, const Message& message, int index) {
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

void Writer::WriteText(const std::string& text) {
  out_ << (!json_ && StandsPlain(text) ? YAML::Auto : YAML::DoubleQuoted) << text;
}

std::string WriteYaml(const config::v1::Config& config, const Positions& positions) {
  YAML::Emitter out;
  Writer(positions, false, out).WriteMessage("", config);
  return absl::StrCat(out.c_str(), "\n");
}

std::string WriteJson(const config::v1::Config& config, const Positions& positions) {
  JsonEmitter json;
  YAML::Emitter& out = json.out();
  out << YAML::BeginMap << YAML::Key << "config" << YAML::Value;
  Writer writer(positions, true, out);
  writer.WriteMessage("", config);
  out << YAML::Key << "defaults" << YAML::Value << writer.defaults() << YAML::EndMap;
  return json.text();
}

}  // namespace

EffectiveText WriteEffective(const config::v1::Config& config, const Positions& positions) {
  return {WriteYaml(config, positions), WriteJson(config, positions)};
}

}  // namespace levee
