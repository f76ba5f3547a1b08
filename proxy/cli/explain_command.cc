// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "config/check_report.h"
#include "config/load.h"
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

// Returns false, with the reason on standard error, if the file cannot be written.
bool WriteFile(const std::string& path, const std::string& text) {
  FILE* const file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (!written) {
    std::fprintf(stderr, "levee explain: %s cannot be written: %s\n", path.c_str(),
                 std::strerror(errno));
  }
  return written;
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
  const bool written =
      options.html.empty() || WriteFile(options.html, ExplanationHtml(*explanation));
  return written ? 0 : 1;
}

}  // namespace levee
