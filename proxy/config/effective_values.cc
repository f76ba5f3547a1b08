// SPDX-License-Identifier: Apache-2.0
#include "config/effective_values.h"

#include "absl/strings/str_cat.h"
#include "config/effective_fields.h"
#include "config/merge.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Lister {
 public:
  // `top`: the path of the part.
  Lister(const Positions& positions, std::string top)
      : positions_(positions), top_(std::move(top)) {}

  // `path`: of `message`, from the part on.
  void ListMessage(const std::string& path, const Message& message);

  std::vector<EffectiveValue> values() && { return std::move(values_); }

 private:
  void ListField(const std::string& path, const FieldDescriptor& field, const Message& message);

  const Positions& positions_;
  const std::string top_;
  std::vector<EffectiveValue> values_;
};

void Lister::ListMessage(const std::string& path, const Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string at = path.empty() ? field.name() : absl::StrCat(path, ".", field.name());
    if (IsShown(absl::StrCat(top_, ".", at), field, message, positions_)) {
      ListField(at, field, message);
    }
  }
}

void Lister::ListField(const std::string& path, const FieldDescriptor& field,
                       const Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!HasFields(field, message)) {
    YAML::Emitter text;
    ValueWriter(/*json=*/false, text).Write(field, message);
    values_.push_back({path, text.c_str(), positions_.OriginOf(absl::StrCat(top_, ".", path))});
  } else if (!field.is_repeated()) {
    ListMessage(path, reflection.GetMessage(message, &field));
  } else {
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      ListMessage(absl::StrCat(path, "[", i, "]"),
                  reflection.GetRepeatedMessage(message, &field, i));
    }
  }
}

}  // namespace

std::vector<EffectiveValue> ListPolicyValues(const ReadConfig& complete, int policy) {
  Lister lister(complete.positions, absl::StrCat("policies[", policy, "]"));
  lister.ListMessage("", complete.config.policies(policy));
  return std::move(lister).values();
}

}  // namespace levee
