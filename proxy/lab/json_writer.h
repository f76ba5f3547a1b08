// SPDX-License-Identifier: Apache-2.0
// Writes the members of JSON objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "config/json_emitter.h"

namespace levee {

// Writes one member after the other.
class JsonWriter {
 public:
  explicit JsonWriter(YAML::Emitter& out) : out_(out) {}

  void Key(std::string_view key) { out_ << YAML::Key << std::string(key) << YAML::Value; }
  void Text(std::string_view key, const std::string& text) {
    Key(key);
    out_ << text;
  }
  void Number(std::string_view key, std::optional<double> number) {
    Key(key);
    if (!number.has_value()) {
      out_ << YAML::Null;
    } else {
      out_ << YAML::Auto << absl::StrFormat("%.10g", *number);
    }
  }
  void Ms(std::string_view key, std::optional<absl::Duration> duration) {
    Number(key, duration.has_value() ? std::optional(absl::ToDoubleMilliseconds(*duration))
                                     : std::nullopt);
  }

  // Writes a list, each element by `write`.
  template <typename Elements, typename Write>
  void List(std::string_view key, const Elements& elements, const Write& write) {
    Key(key);
    out_ << YAML::BeginSeq;
    for (const auto& element : elements) write(element);
    out_ << YAML::EndSeq;
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    List(key, texts, [this](const std::string& text) { out_ << text; });
  }
  void Numbers(std::string_view key, const std::vector<double>& numbers) {
    List(key, numbers,
         [this](double number) { out_ << YAML::Auto << absl::StrFormat("%.10g", number); });
  }

  void Begin() { out_ << YAML::BeginMap; }
  void End() { out_ << YAML::EndMap; }

 private:
  YAML::Emitter& out_;
};

}  // namespace levee
