// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "config/schema.h"
#include "config/suggest.h"
#include "config/yaml_document.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Returns the name that messages use for a value of the wrong type.
std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  return Quoted(node.Scalar());
}

// yaml-cpp tags quoted scalars "!": a quoted 3 is text.
bool IsQuoted(const YAML::Node& node) { return node.Tag() == "!"; }

// Returns a key as part of a path: as it is, unless it could not be a field's name.
std::string Shown(const std::string& key) {
  const bool word = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '<';
  });
  return word ? key : Quoted(key);
}

// Walks one YAML tree along the descriptors. The depth is bounded by that of the schema, even when
// an alias refers to its own parent.
class YamlWalker {
 public:
  YamlWalker(const std::string& file, Positions& positions, FaultList& faults)
      : file_(file), positions_(positions), faults_(faults) {}

  void ReadMessage(const YAML::Node& node, const std::string& path, Message& message);
  void ReadField(const YAML::Node& node, const YAML::Mark& key, const FieldDescriptor& field,
                 const std::string& path, Message& message);

  // Whether the walk has looked at every value.
  bool complete() const { return values_ <= kMaxYamlValues; }

 private:
  bool ReadEntry(const YAML::Node& key, const YAML::Node& value, const std::string& path,
                 Message& message);
  void ReadList(const YAML::Node& node, const FieldDescriptor& field, const std::string& path,
                Message& message);
  void ReadScalar(const YAML::Node& node, const FieldDescriptor& field, const std::string& path,
                  Message& message);
  bool StoreScalar(const YAML::Node& node, const FieldDescriptor& field, const std::string& path,
                   Message& message);
  bool ReadEnum(const YAML::Node& node, const FieldDescriptor& field, const std::string& path,
                Message& message);
  bool ReadNumber(const YAML::Node& node, const FieldDescriptor& field, const std::string& path,
                  Message& message);
  bool RefuseOneofSibling(const YAML::Node& key, const FieldDescriptor& field,
                          const std::string& path, const Message& message);
  bool CountValue(const YAML::Mark& mark);

  Place At(const YAML::Mark& mark, const std::string& path) const {
    return {file_, mark.line + 1, mark.column + 1, path};
  }

  // Reports the value at `path`, which must have a place, and marks it broken.
  void Refuse(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
    positions_.MarkBroken(path);
  }

  const std::string& file_;
  Positions& positions_;
  FaultList& faults_;
  int values_ = 0;
};

// Returns false, with one fault for the whole file, when there are too many values.
bool YamlWalker::CountValue(const YAML::Mark& mark) {
  if (++values_ == kMaxYamlValues + 1) {
    faults_.Add(At(mark, ""), CheckCode::kTooManyValues,
                absl::StrCat("more than ", kMaxYamlValues,
                             " values, aliases included; the rest is not read"));
  }
  return complete();
}

void YamlWalker::ReadMessage(const YAML::Node& node, const std::string& path, Message& message) {
  if (node.IsScalar()) {
    if (const FieldDescriptor* plain = PlainValueOf(*message.GetDescriptor())) {
      ReadScalar(node, *plain, path, message);
      return;
    }
  }
  if (!node.IsMap()) {
    Refuse(path, CheckCode::kWrongType,
           absl::StrCat("is ", Describe(node), "; write a mapping of these: ",
                        absl::StrJoin(KeysOf(*message.GetDescriptor()), ", ")));
    return;
  }
  std::map<std::string, int> lines;  // the first line of each key
  for (const auto& entry : node) {
    if (!CountValue(entry.first.Mark())) return;
    if (!entry.first.IsScalar()) {
      faults_.Add(At(entry.first.Mark(), path), CheckCode::kKeyNotWord,
                  "a key is not a single word; write NAME: VALUE");
      continue;
    }
    const std::string& key = entry.first.Scalar();
    const std::string key_path = absl::StrCat(path, path.empty() ? "" : ".", Shown(key));
    const auto [first, is_new] = lines.emplace(key, entry.first.Mark().line + 1);
    if (!is_new) {
      faults_.Add(At(entry.first.Mark(), key_path), CheckCode::kDuplicateKey,
                  absl::StrCat("is given twice; first in line ", first->second));
      continue;
    }
    if (!ReadEntry(entry.first, entry.second, key_path, message)) positions_.MarkUnknownField(path);
  }
}

// Returns false if the message has no field of that name.
bool YamlWalker::ReadEntry(const YAML::Node& key, const YAML::Node& value, const std::string& path,
                           Message& message) {
  const FieldDescriptor* field = FindField(*message.GetDescriptor(), key.Scalar());
  if (field == nullptr) {
    const std::string hint =
        key.Scalar() == "<<"
            ? "; YAML merge keys are not read, an alias stands for a whole value"
            : Suggestion(key.Scalar(), KeysOf(*message.GetDescriptor()), "known here");
    faults_.Add(At(key.Mark(), path), CheckCode::kUnknownField,
                absl::StrCat("unknown field", hint));
    return false;
  }
  if (!RefuseOneofSibling(key, *field, path, message)) {
    ReadField(value, key.Mark(), *field, path, message);
  }
  return true;
}

// A oneof forgets its first member when a second one is set: the second is refused instead.
bool YamlWalker::RefuseOneofSibling(const YAML::Node& key, const FieldDescriptor& field,
                                    const std::string& path, const Message& message) {
  if (field.real_containing_oneof() == nullptr) return false;
  const FieldDescriptor* other =
      message.GetReflection()->GetOneofFieldDescriptor(message, field.real_containing_oneof());
  if (other == nullptr) return false;
  faults_.Add(
      At(key.Mark(), path), CheckCode::kExclusiveFields,
      absl::StrCat("excludes ", other->name(), ", which is given too; only one is allowed"));
  return true;
}

void YamlWalker::ReadField(const YAML::Node& node, const YAML::Mark& key,
                           const FieldDescriptor& field, const std::string& path,
                           Message& message) {
  // A collection is placed at its key, since its own mark is inside the block. The mark of a null
  // is that of the next token.
  positions_.Set(path, At(node.IsScalar() ? node.Mark() : key, path));
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (node.IsNull()) {
    Refuse(path, CheckCode::kNoValue, "has no value; leave the field out for its default");
  } else if (field.is_repeated()) {
    ReadList(node, field, path, message);
  } else if (!is_message) {
    ReadScalar(node, field, path, message);
  } else if (!(RuleOf(field).none() && node.IsScalar() && node.Scalar() == "none")) {
    ReadMessage(node, path, *message.GetReflection()->MutableMessage(&message, &field));
  }
}

// Every element of the YAML list, also a broken one, becomes an element of the field, so that the
// numbers in paths are those of the file.
void YamlWalker::ReadList(const YAML::Node& node, const FieldDescriptor& field,
                          const std::string& path, Message& message) {
  if (!node.IsSequence()) {
    const std::string example = node.IsScalar() ? absl::StrCat("; say [", node.Scalar(), "]") : "";
    Refuse(path, CheckCode::kWrongType,
           absl::StrCat("is ", Describe(node), "; write a list", example));
    return;
  }
  int index = 0;
  for (const YAML::Node& element : node) {
    if (!CountValue(element.Mark())) return;
    const std::string element_path = absl::StrCat(path, "[", index++, "]");
    positions_.Set(element_path, At(element.IsNull() ? node.Mark() : element.Mark(), element_path));
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      ReadScalar(element, field, element_path, message);
      continue;
    }
    Message& added = *message.GetReflection()->AddMessage(&message, &field);
    if (element.IsNull()) {
      Refuse(element_path, CheckCode::kNoValue, "has no value; leave the element out");
    } else {
      ReadMessage(element, element_path, added);
    }
  }
}

void YamlWalker::ReadScalar(const YAML::Node& node, const FieldDescriptor& field,
                            const std::string& path, Message& message) {
  if (StoreScalar(node, field, path, message) || !field.is_repeated()) return;
  // A broken element keeps its number.
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    message.GetReflection()->AddEnumValue(&message, &field, 0);
  } else {
    message.GetReflection()->AddString(&message, &field, "");
  }
}

// Returns false if there was no valid value to store.
bool YamlWalker::StoreScalar(const YAML::Node& node, const FieldDescriptor& field,
                             const std::string& path, Message& message) {
  if (!node.IsScalar()) {
    Refuse(path, node.IsNull() ? CheckCode::kNoValue : CheckCode::kWrongType,
           node.IsNull() ? "has no value; leave the element out"
                         : absl::StrCat("is ", Describe(node), "; write a single value"));
    return false;
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return ReadEnum(node, field, path, message);
  }
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return ReadNumber(node, field, path, message);
  }
  if (field.is_repeated()) {
    message.GetReflection()->AddString(&message, &field, node.Scalar());
  } else {
    message.GetReflection()->SetString(&message, &field, node.Scalar());
  }
  return true;
}

bool YamlWalker::ReadEnum(const YAML::Node& node, const FieldDescriptor& field,
                          const std::string& path, Message& message) {
  const EnumValueDescriptor* value = FindWord(*field.enum_type(), node.Scalar());
  if (value == nullptr) {
    std::vector<std::string> allowed = WordsOf(*field.enum_type());
    if (PlainValueOf(*message.GetDescriptor()) == &field) {
      for (const std::string& key : KeysOf(*message.GetDescriptor())) {
        allowed.push_back(absl::StrCat("{", key, ": ...}"));
      }
    }
    Refuse(
        path, CheckCode::kUnknownWord,
        absl::StrCat(Describe(node), " is unknown", Suggestion(node.Scalar(), allowed, "allowed")));
    return false;
  }
  if (field.is_repeated()) {
    message.GetReflection()->AddEnum(&message, &field, value);
  } else {
    message.GetReflection()->SetEnum(&message, &field, value);
  }
  return true;
}

// Reads whole numbers, other numbers, true and false. No list has them.
bool YamlWalker::ReadNumber(const YAML::Node& node, const FieldDescriptor& field,
                            const std::string& path, Message& message) {
  const Reflection& reflection = *message.GetReflection();
  const std::string& text = node.Scalar();
  std::string wanted;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    wanted = "a whole number";
    int32_t number;
    if (!IsQuoted(node) && absl::SimpleAtoi(text, &number)) {
      reflection.SetInt32(&message, &field, number);
      return true;
    }
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    wanted = "a number";
    double number;
    if (!IsQuoted(node) && absl::SimpleAtod(text, &number) && std::isfinite(number)) {
      reflection.SetDouble(&message, &field, number);
      return true;
    }
  } else {
    LEVEE_CHECK(field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL);
    wanted = "true or false";
    if (!IsQuoted(node) && (text == "true" || text == "false")) {
      reflection.SetBool(&message, &field, text == "true");
      return true;
    }
  }
  Refuse(path, CheckCode::kWrongType,
         IsQuoted(node) ? absl::StrCat(Quoted(text), " is text; say ", wanted, " without quotes")
                        : absl::StrCat(Quoted(text), " is not ", wanted));
  return false;
}

}  // namespace

bool ReadYaml(const std::string& file, const std::string& text, Message& message,
              Positions& positions, FaultList& faults) {
  YAML::Node root;
  if (!ParseYamlDocument(file, text, kMaxYamlValues, root, faults)) return false;
  if (root.IsNull()) return true;
  positions.Set("", {file, root.Mark().line + 1, root.Mark().column + 1, ""});
  YamlWalker walker(file, positions, faults);
  walker.ReadMessage(root, "", message);
  return walker.complete();
}

void ReadAnnotation(const std::string& mapping, Message& message) {
  const std::string& file = message.GetDescriptor()->full_name();
  Positions positions;
  FaultList faults;
  YamlWalker(file, positions, faults).ReadMessage(YAML::Load(mapping), "", message);
  LEVEE_CHECK(faults.empty());
}

void ReadDefault(const FieldDescriptor& field, Message& message) {
  const std::string& text = RuleOf(field).default_();
  if (text.empty()) return;
  const std::string& file = field.full_name();
  Positions positions;
  FaultList faults;
  const YAML::Node node = YAML::Load(text);
  YamlWalker(file, positions, faults).ReadField(node, node.Mark(), field, field.name(), message);
  LEVEE_CHECK(faults.empty());
}

}  // namespace levee
