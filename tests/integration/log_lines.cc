// SPDX-License-Identifier: Apache-2.0
#include "integration/log_lines.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "gtest/gtest.h"

namespace levee {

using google::protobuf::Value;

LogLine::LogLine(const std::string& json) {
  const auto status = google::protobuf::util::JsonStringToMessage(json, &object_);
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
}

const Value& LogLine::Get(const std::string& member) const {
  static const Value none;
  const auto found = object_.fields().find(member);
  const bool there = found != object_.fields().end();
  EXPECT_TRUE(there) << member;
  return there ? found->second : none;
}

std::string LogLine::Text(const std::string& member) const {
  const Value& value = Get(member);
  EXPECT_EQ(value.kind_case(), Value::kStringValue) << member;
  return value.string_value();
}

double LogLine::Number(const std::string& member) const {
  const Value& value = Get(member);
  EXPECT_EQ(value.kind_case(), Value::kNumberValue) << member;
  return value.number_value();
}

bool LogLine::IsNull(const std::string& member) const {
  return Get(member).kind_case() == Value::kNullValue;
}

std::vector<LogLine> LogLine::List(const std::string& member) const {
  const Value& value = Get(member);
  EXPECT_EQ(value.kind_case(), Value::kListValue) << member;
  std::vector<LogLine> objects;
  for (const Value& element : value.list_value().values()) {
    EXPECT_EQ(element.kind_case(), Value::kStructValue) << member;
    objects.push_back(LogLine(element.struct_value()));
  }
  return objects;
}

std::vector<std::string> LogLine::members() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_.fields()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace levee
