// SPDX-License-Identifier: Apache-2.0
// Reads the descriptors of config.proto by the annotations and conventions of annotations.proto.
#pragma once

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "levee/config/v1/annotations.pb.h"

namespace levee {

const config::v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field);

// The comment before a field or a message, as one line; empty if there is none. Only descriptors
// that were built with source information have comments.
std::string CommentOf(const google::protobuf::FieldDescriptor& field);
std::string CommentOf(const google::protobuf::Descriptor& message);

// The names a YAML mapping of this message may have.
std::vector<std::string> KeysOf(const google::protobuf::Descriptor& message);

// Whether the values of `field` are messages.
inline bool HoldsMessages(const google::protobuf::FieldDescriptor& field) {
  return field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
}

// Returns the field of that YAML name, nullptr if there is none.
const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Descriptor& message,
                                                   const std::string& key);

// Returns the field that a plain value in place of the message stands for, nullptr if there is
// none.
const google::protobuf::FieldDescriptor* PlainValueOf(const google::protobuf::Descriptor& message);

// Returns the field `name` of a list's messages, which tells its entries apart; nullptr for other
// fields.
const google::protobuf::FieldDescriptor* NameOf(const google::protobuf::FieldDescriptor& list);

// Returns the YAML word for an enum value: COMMIT_AUTO of Commit is "auto".
std::string WordOf(const google::protobuf::EnumValueDescriptor& value);

// Returns the words of all values except UNSPECIFIED.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& type);

// Returns the value of that word, nullptr if there is none.
const google::protobuf::EnumValueDescriptor* FindWord(const google::protobuf::EnumDescriptor& type,
                                                      const std::string& word);

}  // namespace levee
