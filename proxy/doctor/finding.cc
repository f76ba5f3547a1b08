// SPDX-License-Identifier: Apache-2.0
#include "doctor/finding.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/json_text.h"

namespace levee::doctor {
namespace {

const char* NameOf(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kWarning:
      return "warning";
    case Severity::kFault:
      break;
  }
  return "fault";
}

// Texts of peers could move the cursor of a terminal.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

Severity WorstOf(const Findings& findings) {
  Severity worst = Severity::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::string FindingsText(const Findings& findings) {
  std::string lines;
  for (const Finding& finding : findings) {
    absl::StrAppendFormat(&lines, "%-7s %s %s%s%s\n", NameOf(finding.severity), finding.code,
                          Printable(finding.text), finding.cure.empty() ? "" : "; ",
                          Printable(finding.cure));
  }
  return lines;
}

std::string FindingsJson(const Findings& findings, bool ok) {
  std::string json = absl::StrCat("{\"ok\": ", ok ? "true" : "false", ", \"checks\": [");
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    absl::StrAppend(&json, i > 0 ? ", " : "", "{\"severity\": \"", NameOf(finding.severity),
                    "\", \"code\": \"", finding.code, "\", \"text\": ");
    AppendJsonString(finding.text, json);
    json += ", \"cure\": ";
    AppendJsonString(finding.cure, json);
    json += "}";
  }
  return json + "]}";
}

}  // namespace levee::doctor
