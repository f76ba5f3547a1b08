// SPDX-License-Identifier: Apache-2.0
#include "cli/check_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "config/check_report.h"
#include "config/load.h"

namespace levee {
namespace {

void PrintText(const CheckOptions& options, const CheckedConfig& checked, bool ok) {
  for (const auto* list : {&checked.faults, &checked.warnings}) {
    if (!list->empty()) std::printf("%s\n", FormatFaults(*list).c_str());
  }
  for (const std::string& file : options.files) {
    if (ok) std::printf("%s: ok\n", file.c_str());
  }
  const std::string summary = SummaryOf(checked);
  if (!summary.empty()) std::printf("%s\n", summary.c_str());
}

}  // namespace

int RunCheck(const CheckOptions& options) {
  FaultList unread;
  std::vector<ConfigText> texts;
  for (const std::string& file : options.files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxConfigFileBytes, unread);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  const CheckedConfig checked = CheckConfig(texts, std::nullopt, std::move(unread));
  const bool ok = checked.faults.empty() && !(options.strict && !checked.warnings.empty());
  if (options.output == "json") {
    std::printf("%s\n", CheckReportJson(options.files, checked, ok).c_str());
  } else {
    PrintText(options, checked, ok);
  }
  return ok ? 0 : 1;
}

}  // namespace levee
