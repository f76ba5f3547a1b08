// SPDX-License-Identifier: Apache-2.0
#include "config/schema.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"

namespace levee {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

const config::v1::FieldRule& RuleOf(const FieldDescriptor& field) {
  return field.options().GetExtension(config::v1::rule);
}

namespace {

template <typename Described>
std::string Comment(const Described& described) {
  google::protobuf::SourceLocation location;
  if (!described.GetSourceLocation(&location)) return "";
  // Each line of a comment begins with a space.
  return std::string(
      absl::StripAsciiWhitespace(absl::StrReplaceAll(location.leading_comments, {{"\n", ""}})));
}

}  // namespace

std::string CommentOf(const FieldDescriptor& field) { return Comment(field); }
std::string CommentOf(const Descriptor& message) { return Comment(message); }

const FieldDescriptor* PlainValueOf(const Descriptor& message) {
  return message.FindFieldByName(message.options().GetExtension(config::v1::plain_value));
}

const FieldDescriptor* FindField(const Descriptor& message, const std::string& key) {
  const FieldDescriptor* field = message.FindFieldByName(key);
  return field == PlainValueOf(message) ? nullptr : field;
}

std::vector<std::string> KeysOf(const Descriptor& message) {
  std::vector<std::string> keys;
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i) != PlainValueOf(message)) keys.push_back(message.field(i)->name());
  }
  return keys;
}

const FieldDescriptor* NameOf(const FieldDescriptor& list) {
  if (!list.is_repeated() || list.message_type() == nullptr) return nullptr;
  return list.message_type()->FindFieldByName("name");
}

std::string WordOf(const EnumValueDescriptor& value) {
  // The prefix of "AppRetries" is "APP_RETRIES_".
  size_t prefix = 0;
  for (const char c : value.type()->name()) prefix += absl::ascii_isupper(c) ? 2 : 1;
  std::string word = absl::AsciiStrToLower(value.name().substr(prefix));
  if (value.type()->options().GetExtension(config::v1::hyphens)) {
    std::replace(word.begin(), word.end(), '_', '-');
  }
  return word;
}

std::vector<std::string> WordsOf(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 1; i < type.value_count(); ++i) words.push_back(WordOf(*type.value(i)));
  return words;
}

const EnumValueDescriptor* FindWord(const EnumDescriptor& type, const std::string& word) {
  for (int i = 1; i < type.value_count(); ++i) {
    if (WordOf(*type.value(i)) == word) return type.value(i);
  }
  return nullptr;
}

}  // namespace levee
