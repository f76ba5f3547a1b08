// SPDX-License-Identifier: Apache-2.0
#include "log/event_text.h"

#include <algorithm>

#include "base/json_text.h"

namespace levee {
namespace {

// Longer values are cut: what peers send must not fill the log.
constexpr size_t kMaxValueBytes = 1024;

bool IsPlainWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=';
  });
}

std::string_view Value(const LogField& field) {
  return std::string_view(field.text).substr(0, kMaxValueBytes);
}

void AppendMember(std::string_view name, std::string_view text, std::string& to) {
  to += name;
  AppendJsonString(text, to);
}

}  // namespace

std::string EventText(const LogEvent& event) {
  const EventKindFacts& facts = FactsOf(event.kind);
  std::string line(facts.name);
  line += ": ";
  line += facts.message;
  for (const LogField& field : event.fields) {
    line += ' ';
    line += field.name;
    line += '=';
    if (IsPlainWord(Value(field))) {
      line += Value(field);
    } else {
      AppendJsonString(Value(field), line);
    }
  }
  return line;
}

std::string EventJson(const LogEvent& event, absl::Time time) {
  const EventKindFacts& facts = FactsOf(event.kind);
  std::string line;
  AppendMember(R"({"time":)", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()),
               line);
  AppendMember(R"(,"level":)", LogLevelName(facts.level), line);
  AppendMember(R"(,"event":)", facts.name, line);
  AppendMember(R"(,"message":)", facts.message, line);
  line += R"(,"fields":{)";
  for (const LogField& field : event.fields) {
    if (line.back() != '{') line += ',';
    AppendJsonString(field.name, line);
    line += ':';
    if (field.number) {
      line += field.text;
    } else {
      AppendJsonString(Value(field), line);
    }
  }
  line += "}}";
  return line;
}

}  // namespace levee
