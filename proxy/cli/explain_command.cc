// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "cli/output.h"
#include "config/check_report.h"
#include "config/load.h"
#include "config/merge.h"
#include "lab/explain_html.h"
#include "lab/explain_json.h"
#include "lab/explain_text.h"

namespace levee {
namespace {

constexpr int kWrongQuestion = 2;

CheckedConfig Load(const std::vector<std::string>& files, ReadConfig& complete) {
  FaultList unread;
  std::vector<ConfigText> texts;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxConfigFileBytes, unread);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  return CheckConfig(texts, std::move(unread), complete);
}

}  // namespace

int RunExplain(const ExplainOptions& options) {
  ReadConfig complete;
  const CheckedConfig checked = Load(options.files, complete);
  if (!checked.faults.empty()) {
    std::fprintf(stderr, "%s\n%s\n", FormatFaults(checked.faults).c_str(),
                 SummaryOf({.faults = checked.faults}).c_str());
    return 1;
  }
  const absl::StatusOr<Explanation> explanation =
      Explain(*checked.snapshot, complete, options.question);
  if (!explanation.ok()) {
    std::fprintf(stderr, "levee explain: %s\n",
                 std::string(explanation.status().message()).c_str());
    return kWrongQuestion;
  }
  const bool json = options.output == "json";
  std::fputs((json ? ExplanationJson(*explanation) : ExplanationText(*explanation)).c_str(),
             stdout);
  const bool written = options.html.empty() ||
                       WriteOutput("levee explain", options.html, ExplanationHtml(*explanation));
  return written ? 0 : 1;
}

}  // namespace levee
