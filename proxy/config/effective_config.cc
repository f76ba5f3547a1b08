// SPDX-License-Identifier: Apache-2.0
#include "config/effective_config.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "config/effective_fields.h"
#include "config/json_emitter.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Writes messages as YAML or, with an emitter that is set up for it, as JSON.
class Writer {
 public:
  Writer(const Positions& positions, bool json, YAML::Emitter& out)
      : positions_(positions), json_(json), out_(out), values_(json, out) {}

  void WriteMessage(const std::string& path, const Message& message);

  const std::vector<std::string>& defaults() const { return defaults_; }

 private:
  void WriteField(const std::string& path, const FieldDescriptor& field, const Message& message);
  void WriteFields(const std::string& path, const FieldDescriptor& field, const Message& message);

  const Positions& positions_;
  const bool json_;
  YAML::Emitter& out_;
  ValueWriter values_;
  std::vector<std::string> defaults_;
};

void Writer::WriteMessage(const std::string& path, const Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  out_ << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string at = path.empty() ? field.name() : absl::StrCat(path, ".", field.name());
    if (IsShown(at, field, message, positions_)) WriteField(at, field, message);
  }
  out_ << YAML::EndMap;
}

void Writer::WriteField(const std::string& path, const FieldDescriptor& field,
                        const Message& message) {
  out_ << YAML::Key << field.name() << YAML::Value;
  if (HasFields(field, message)) return WriteFields(path, field, message);
  values_.Write(field, message);
  if (positions_.Has(path) || !positions_.ShorthandOf(path).empty()) return;
  defaults_.push_back(path);
  if (!json_) out_ << YAML::Comment("default");
}

void Writer::WriteFields(const std::string& path, const FieldDescriptor& field,
                         const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return WriteMessage(path, reflection.GetMessage(message, &field));
  out_ << YAML::BeginSeq;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    WriteMessage(absl::StrCat(path, "[", i, "]"),
                 reflection.GetRepeatedMessage(message, &field, i));
  }
  out_ << YAML::EndSeq;
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
