// SPDX-License-Identifier: Apache-2.0
#include "config/json_schema.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "config/json_emitter.h"
#include "config/json_layout.h"
#include "config/schema.h"
#include "config/schema_kinds.h"
#include "levee/config/v1/annotations.pb.h"

namespace levee {
namespace {

using config::v1::FieldRule;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// Writes a default from config.proto. Only numbers and booleans stand without quotes.
void EmitDefault(const YAML::Node& node, bool plain, YAML::Emitter& out) {
  if (node.IsScalar()) {
    out << (plain ? YAML::Auto : YAML::DoubleQuoted) << node.Scalar();
  } else if (node.IsSequence()) {
    out << YAML::BeginSeq;
    for (const YAML::Node& element : node) EmitDefault(element, plain, out);
    out << YAML::EndSeq;
  } else {
    out << YAML::BeginMap;
    for (const auto& entry : node) {
      out << YAML::Key << entry.first.Scalar() << YAML::Value;
      EmitDefault(entry.second, plain, out);
    }
    out << YAML::EndMap;
  }
}

// Writes the schema of each message once, in the order of their first use.
class SchemaWriter {
 public:
  explicit SchemaWriter(const google::protobuf::FileDescriptorSet& commented) {
    for (const auto& file : commented.file()) LEVEE_CHECK(pool_.BuildFile(file) != nullptr);
  }

  std::string Write(const std::string& name, const std::string& title);

 private:
  template <typename Described>
  void Description(const Described& described);
  void Members(const Descriptor& type);
  void Dependencies(const Descriptor& type);
  void Dependency(const Descriptor& type, const FieldDescriptor& field);
  void OneOf(const std::vector<std::string>& names);
  void Property(const FieldDescriptor& field);
  void Value(const FieldDescriptor& field);
  void MessageValue(const FieldDescriptor& field);
  void Reference(const Descriptor& type);
  void NumberBounds(const FieldRule& rule);
  void Words(const EnumDescriptor& type);
  std::string NameOfDefinition(const Descriptor& type) const;

  google::protobuf::DescriptorPool pool_;  // with the comments
  std::vector<const Descriptor*> definitions_;
  std::set<const Descriptor*> known_;
  JsonEmitter json_;
  YAML::Emitter& out_ = json_.out();
};

bool IsPlainNumber(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
}

// Returns the fields that may stand in place of a required one.
std::vector<std::string> InPlaceOf(const FieldDescriptor& field) {
  const Descriptor& type = *field.containing_type();
  std::vector<std::string> others;
  for (int i = 0; i < type.field_count(); ++i) {
    for (const std::string& name : RuleOf(*type.field(i)).excludes()) {
      if (name == field.name()) others.push_back(type.field(i)->name());
    }
  }
  return others;
}

std::string SchemaWriter::Write(const std::string& name, const std::string& title) {
  const Descriptor* const whole = pool_.FindMessageTypeByName(name);
  LEVEE_CHECK(whole != nullptr);
  out_ << YAML::BeginMap << YAML::Key << "$schema" << YAML::Value
       << "http://json-schema.org/draft-07/schema#";
  out_ << YAML::Key << "title" << YAML::Value << title;
  Members(*whole);
  out_ << YAML::Key << "definitions" << YAML::Value << YAML::BeginMap;
  for (size_t i = 0; i < definitions_.size(); ++i) {  // The list grows meanwhile.
    const Descriptor& type = *definitions_[i];
    out_ << YAML::Key << NameOfDefinition(type) << YAML::Value << YAML::BeginMap;
    Description(type);
    Members(type);
    out_ << YAML::EndMap;
  }
  out_ << YAML::EndMap << YAML::EndMap;
  return LayOutJson(json_.text());
}

// Writes the description of `described`, which is a field or a message.
template <typename Described>
void SchemaWriter::Description(const Described& described) {
  const std::string text = CommentOf(described);
  if (!text.empty()) out_ << YAML::Key << "description" << YAML::Value << text;
}

void SchemaWriter::Members(const Descriptor& type) {
  out_ << YAML::Key << "type" << YAML::Value << "object";
  out_ << YAML::Key << "properties" << YAML::Value << YAML::BeginMap;
  std::vector<std::string> required;
  std::map<std::vector<std::string>, std::vector<std::string>> replaceable;  // by what may do so
  bool only_oneof = true;
  for (const std::string& key : KeysOf(type)) {
    const FieldDescriptor& field = *type.FindFieldByName(key);
    out_ << YAML::Key << key << YAML::Value;
    Property(field);
    if (RuleOf(field).required() && RuleOf(field).default_().empty()) {
      const std::vector<std::string> others = InPlaceOf(field);
      (others.empty() ? required : replaceable[others]).push_back(key);
    }
    only_oneof &= field.real_containing_oneof() != nullptr;
  }
  out_ << YAML::EndMap;
  out_ << YAML::Key << "additionalProperties" << YAML::Value << false;
  if (!required.empty()) out_ << YAML::Key << "required" << YAML::Value << required;
  if (!replaceable.empty()) {
    out_ << YAML::Key << "allOf" << YAML::Value << YAML::BeginSeq;
    for (const auto& [others, names] : replaceable) {
      out_ << YAML::BeginMap << YAML::Key << "anyOf" << YAML::Value << YAML::BeginSeq;
      const auto given = [this](const std::vector<std::string>& fields) {
        out_ << YAML::BeginMap << YAML::Key << "required" << YAML::Value << fields << YAML::EndMap;
      };
      given(names);
      for (const std::string& other : others) given({other});
      out_ << YAML::EndSeq << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }
  if (only_oneof) out_ << YAML::Key << "maxProperties" << YAML::Value << 1;
  Dependencies(type);
}

void SchemaWriter::Dependencies(const Descriptor& type) {
  bool any = false;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldRule& rule = RuleOf(*type.field(i));
    any |= rule.excludes_size() > 0 || rule.has_needs();
  }
  if (!any) return;
  out_ << YAML::Key << "dependencies" << YAML::Value << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) Dependency(type, *type.field(i));
  out_ << YAML::EndMap;
}

// Writes a condition: one of the fields is given.
void SchemaWriter::OneOf(const std::vector<std::string>& names) {
  out_ << YAML::BeginMap << YAML::Key << "anyOf" << YAML::Value << YAML::BeginSeq;
  for (const std::string& name : names) {
    out_ << YAML::BeginMap << YAML::Key << "required" << YAML::Value
         << std::vector<std::string>{name} << YAML::EndMap;
  }
  out_ << YAML::EndSeq << YAML::EndMap;
}

void SchemaWriter::Dependency(const Descriptor& type, const FieldDescriptor& field) {
  const FieldRule& rule = RuleOf(field);
  if (rule.excludes_size() > 0) {
    out_ << YAML::Key << field.name() << YAML::Value << YAML::BeginMap;
    const bool flag = field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    if (rule.none() || flag) {
      out_ << YAML::Key << "if" << YAML::Value << YAML::BeginMap << YAML::Key << "properties"
           << YAML::Value << YAML::BeginMap << YAML::Key << field.name() << YAML::Value
           << YAML::BeginMap << YAML::Key << "const" << YAML::Value;
      flag ? out_ << false : out_ << "none";
      out_ << YAML::EndMap << YAML::EndMap << YAML::EndMap << YAML::Key << "else" << YAML::Value
           << YAML::BeginMap;
    }
    out_ << YAML::Key << "not" << YAML::Value;
    OneOf({rule.excludes().begin(), rule.excludes().end()});
    if (rule.none() || flag) out_ << YAML::EndMap;
    out_ << YAML::EndMap;
  } else if (rule.has_needs()) {
    std::vector<std::string> names = {rule.needs().field()};
    if (!rule.needs().or_field().empty()) names.push_back(rule.needs().or_field());
    // A preset may give a field that is needed.
    for (int i = 0; i < type.field_count(); ++i) {
      const EnumDescriptor* words = type.field(i)->enum_type();
      if (words != nullptr && words->value(1)->options().HasExtension(config::v1::short_for)) {
        names.push_back(type.field(i)->name());
      }
    }
    out_ << YAML::Key << field.name() << YAML::Value;
    OneOf(names);
  }
}

void SchemaWriter::Property(const FieldDescriptor& field) {
  const FieldRule& rule = RuleOf(field);
  out_ << YAML::BeginMap;
  Description(field);
  if (!rule.default_().empty()) {
    out_ << YAML::Key << "default" << YAML::Value;
    EmitDefault(YAML::Load(rule.default_()), IsPlainNumber(field), out_);
  }
  if (field.is_repeated()) {
    out_ << YAML::Key << "type" << YAML::Value << "array";
    if (rule.required()) out_ << YAML::Key << "minItems" << YAML::Value << 1;
    out_ << YAML::Key << "items" << YAML::Value << YAML::BeginMap;
  }
  Value(field);
  if (field.is_repeated()) out_ << YAML::EndMap;
  out_ << YAML::EndMap;
}

// Writes the values that the field allows, as members of the open object.
void SchemaWriter::Value(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageValue(field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Words(*field.enum_type());
    case FieldDescriptor::CPPTYPE_BOOL:
      out_ << YAML::Key << "type" << YAML::Value << "boolean";
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      return EmitTextKind(RuleOf(field), out_);
    default:
      const bool whole = field.cpp_type() == FieldDescriptor::CPPTYPE_INT32;
      out_ << YAML::Key << "type" << YAML::Value << (whole ? "integer" : "number");
      NumberBounds(RuleOf(field));
  }
}

void SchemaWriter::NumberBounds(const FieldRule& rule) {
  const auto bound = [this](const char* key, const std::string& number) {
    if (!number.empty()) out_ << YAML::Key << key << YAML::Value << YAML::Auto << number;
  };
  bound("minimum", rule.min());
  bound("exclusiveMinimum", rule.above());
  bound("maximum", rule.max());
}

void SchemaWriter::Words(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 1; i < type.value_count(); ++i) {
    words.push_back(WordOf(*type.value(i)));
  }
  out_ << YAML::Key << "enum" << YAML::Value << words;
}

void SchemaWriter::MessageValue(const FieldDescriptor& field) {
  const FieldDescriptor* plain = PlainValueOf(*field.message_type());
  const bool none = RuleOf(field).none();
  if (plain == nullptr && !none) return Reference(*field.message_type());
  out_ << YAML::Key << "anyOf" << YAML::Value << YAML::BeginSeq << YAML::BeginMap;
  if (plain != nullptr) {
    Value(*plain);
  } else {
    out_ << YAML::Key << "enum" << YAML::Value << std::vector<std::string>{"none"};
  }
  out_ << YAML::EndMap << YAML::BeginMap;
  Reference(*field.message_type());
  out_ << YAML::EndMap << YAML::EndSeq;
}

void SchemaWriter::Reference(const Descriptor& type) {
  if (known_.insert(&type).second) definitions_.push_back(&type);
  out_ << YAML::Key << "$ref" << YAML::Value
       << absl::StrCat("#/definitions/", NameOfDefinition(type));
}

// Returns a name such as "Route.Match".
std::string SchemaWriter::NameOfDefinition(const Descriptor& type) const {
  return type.full_name().substr(type.file()->package().size() + 1);
}

}  // namespace

std::string SchemaOf(const google::protobuf::FileDescriptorSet& commented, const std::string& name,
                     const std::string& title) {
  return SchemaWriter(commented).Write(name, title);
}

}  // namespace levee
