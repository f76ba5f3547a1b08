// SPDX-License-Identifier: Apache-2.0
#include "otlp/resource.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "base/utf8.h"
#include "wire/percent_encoding.h"

namespace levee {
namespace {

using Attributes = std::map<std::string, std::string>;

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// Returns no attributes if a part cannot be read, as OpenTelemetry's specification demands.
Attributes ReadAttributes(const std::string& text) {
  Attributes attributes;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<std::string> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (words.size() != 2) return {};
    std::string key = PercentDecode(Trimmed(words[0]));
    std::string value = PercentDecode(Trimmed(words[1]));
    const bool valid = !key.empty() && FindInvalidUtf8(key) == std::string_view::npos &&
                       FindInvalidUtf8(value) == std::string_view::npos;
    if (!valid) return {};
    attributes[std::move(key)] = std::move(value);
  }
  return attributes;
}

bool IsSet(const std::string& value) {
  return !value.empty() && FindInvalidUtf8(value) == std::string_view::npos;
}

}  // namespace

Attributes ResourceAttributes(const ResourceEnvironment& environment, const std::string& instance,
                              const std::string& version) {
  Attributes attributes = ReadAttributes(environment.otel_resource_attributes);
  if (IsSet(environment.otel_service_name)) {
    attributes["service.name"] = environment.otel_service_name;
  }
  if (IsSet(environment.pod_name)) attributes.emplace("k8s.pod.name", environment.pod_name);
  if (IsSet(environment.pod_namespace)) {
    attributes.emplace("k8s.namespace.name", environment.pod_namespace);
  }
  attributes.emplace("service.name", "levee");
  attributes.emplace("service.instance.id", instance);
  attributes.emplace("service.version", version);
  return attributes;
}

}  // namespace levee
