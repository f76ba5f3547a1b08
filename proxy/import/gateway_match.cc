// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_match.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/values.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

// Whether a glob of methods stands for the text as it is.
bool IsLiteral(const std::string& text) { return text.find_first_of("*/") == std::string::npos; }

// Sets the glob that stands for `written`, or says that no call has such a path.
void SetGlob(const std::string& glob, const std::string& written, MethodMatch& result) {
  if (ParseText(FieldRule::METHOD_GLOB, glob).ok()) {
    result.globs = {glob};
  } else {
    result.never = absl::StrCat("the path ", Quoted(written));
  }
}

// Service and method are expressions of their own, and an absent one is any.
void ReadMethodRegex(const std::optional<std::string>& service,
                     const std::optional<std::string>& name, MethodMatch& result) {
  SetRegex(absl::StrCat("/(?:", service.value_or("[^/]+"), ")/(?:", name.value_or("[^/]+"), ")"),
           result);
}

void ReadMethod(Section method, MethodMatch& result) {
  const std::string type = method.Text("type").value_or("Exact");
  const std::optional<std::string> service = method.Text("service");
  const std::optional<std::string> name = method.Text("method");
  if (!service.has_value() && !name.has_value()) {
    method.Refuse("service", "must be given, or method");
  }
  for (const std::string& key : method.Left()) result.conditions.push_back(key);
  if (type == "RegularExpression") {
    ReadMethodRegex(service, name, result);
    return;
  }
  if (type != "Exact") {
    method.Refuse("type", absl::StrCat(Quoted(type), " is neither Exact nor RegularExpression"));
  }
  for (const char* key : {"service", "method"}) {
    const std::string text = method.Text(key).value_or("x");
    if (text.empty() || !IsLiteral(text)) {
      method.Refuse(key, absl::StrCat(Quoted(text), " is not a name"));
    }
  }
  const std::string glob = absl::StrCat("/", service.value_or("*"), "/", name.value_or("*"));
  SetGlob(glob, glob, result);
}

void ReadPath(Section path, MethodMatch& result) {
  const std::string type = path.Text("type").value_or("PathPrefix");
  const std::string value = path.Text("value").value_or("/");
  if (!value.starts_with('/') && type != "RegularExpression") {
    path.Refuse("value", absl::StrCat(Quoted(value), " must begin with /"));
  }
  if (type == "PathPrefix") {
    SetGlob(PrefixGlob(value).value_or(""), value, result);
  } else if (type == "Exact") {
    SetGlob(value.find('*') == std::string::npos ? value : "", value, result);
  } else if (type == "RegularExpression") {
    SetRegex(value, result);
  } else {
    path.Refuse("type",
                absl::StrCat(Quoted(type), " is none of Exact, PathPrefix and RegularExpression"));
  }
  for (const std::string& key : path.Left()) result.conditions.push_back(key);
}

void ReadHeaders(Section& match, MethodMatch& result) {
  for (Section& header : match.Maps("headers")) {
    const std::string type = header.Text("type").value_or("Exact");
    HeaderCondition read{.name = header.Text("name").value_or("")};
    read.value = header.Text("value").value_or("");
    if (type == "Exact") read.test = HeaderTest::kExact;
    if (type == "RegularExpression") read.test = HeaderTest::kRegex;
    AddHeader(read, result);
    for (const std::string& key : header.Left()) result.conditions.push_back(key);
  }
}

// Further conditions.
void AddConditions(Section& match, MethodMatch& result) {
  ReadHeaders(match, result);
  if (!match.List("queryParams").empty()) result.never = "a query";
  for (const std::string& key : match.Left()) result.conditions.push_back(key);
}

}  // namespace

std::optional<std::string> PrefixGlob(const std::string& prefix) {
  if (prefix.find('*') != std::string::npos) return std::nullopt;
  std::string path = prefix;
  while (path.ends_with('/')) path.pop_back();
  const auto parts = std::count(path.begin(), path.end(), '/');
  if (parts == 0) return "*";
  if (parts == 1) return path + "/*";
  return path;  // Below a method there is nothing.
}

MethodMatch ReadGrpcMatch(Section match) {
  MethodMatch result;
  std::optional<Section> method = match.Map("method");
  if (method.has_value()) ReadMethod(*std::move(method), result);
  AddConditions(match, result);
  return result;
}

MethodMatch ReadHttpMatch(Section match) {
  MethodMatch result;
  std::optional<Section> path = match.Map("path");
  if (path.has_value()) ReadPath(*std::move(path), result);
  const std::string method = match.Text("method").value_or("POST");
  if (method != "POST") {
    result.never = absl::StrCat("the HTTP method ", Quoted(method));
  }
  AddConditions(match, result);
  return result;
}

}  // namespace levee::importer
