// SPDX-License-Identifier: Apache-2.0
// Lines of the access log, read as JSON.
#pragma once

#include <google/protobuf/struct.pb.h>

#include <optional>
#include <string>
#include <vector>

namespace levee {

// One line. Asking for a member that is not there, or is of another kind, fails the test.
class LogLine {
 public:
  // Not an object: fails the test.
  explicit LogLine(const std::string& json);

  std::string Text(const std::string& member) const;
  double Number(const std::string& member) const;
  bool IsNull(const std::string& member) const;
  // The objects of a list.
  std::vector<LogLine> List(const std::string& member) const;

  std::vector<std::string> members() const;  // sorted

 private:
  explicit LogLine(google::protobuf::Struct object) : object_(std::move(object)) {}
  const google::protobuf::Value& Get(const std::string& member) const;

  google::protobuf::Struct object_;
};

}  // namespace levee
