// SPDX-License-Identifier: Apache-2.0
#include "cli/check_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "config/check_report.h"
#include "config/load.h"
#include "config/room_warnings.h"
#include "net/descriptors.h"

namespace levee {
namespace {

using Files = std::vector<std::string>;

CheckedConfig Check(const Files& files, const Room& room) {
  FaultList unread;
  std::vector<ConfigText> texts;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxConfigFileBytes, unread);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  return CheckConfig(texts, std::nullopt, std::move(unread), room);
}

bool Passes(const CheckedConfig& checked, bool strict) {
  return checked.faults.empty() && !(strict && !checked.warnings.empty());
}

void PrintText(const Files& files, const CheckedConfig& checked, const Room& room, bool ok) {
  for (const auto* list : {&checked.faults, &checked.warnings}) {
    if (!list->empty()) std::printf("%s\n", FormatFaults(*list).c_str());
  }
  for (const std::string& file : files) {
    if (ok) std::printf("%s: ok\n", file.c_str());
  }
  if (room.memory == 0 || checked.snapshot == nullptr) return;
  const MemoryPlan plan = PlanMemory(*checked.snapshot, room.memory);
  std::printf("%s", FormatPlan(plan, room.memory).c_str());
}

// A user who names several configurations may not know that they are taken for one.
void PrintHint(const CheckedConfig& checked) {
  if (!checked.replaced.has_value()) return;
  std::fprintf(stderr,
               "levee: %s replaces %s, which has the same name: several files are one "
               "configuration; --each checks each alone\n",
               FormatPlace(checked.replaced->later).c_str(),
               FormatPlace(checked.replaced->earlier).c_str());
}

void Append(const std::vector<Fault>& more, std::vector<Fault>& faults) {
  faults.insert(faults.end(), more.begin(), more.end());
}

// Returns the files of each configuration.
std::vector<Files> Configurations(const CheckOptions& options) {
  if (!options.each) return {options.files};
  std::vector<Files> alone;
  for (const std::string& file : options.files) alone.push_back({file});
  return alone;
}

}  // namespace

int RunCheck(const CheckOptions& options) {
  net::RaiseDescriptorLimit();  // as `levee run` does
  const Room room = {.memory = options.memory,
                     .descriptors = net::DescriptorsForCallers(net::DescriptorLimit())};
  const bool as_json = options.output == "json";
  bool ok = true;
  CheckedConfig all;  // Only faults and warnings.
  for (const Files& files : Configurations(options)) {
    const CheckedConfig checked = Check(files, room);
    const bool passes = Passes(checked, options.strict);
    if (!as_json) PrintText(files, checked, room, passes);
    PrintHint(checked);
    Append(checked.faults, all.faults);
    Append(checked.warnings, all.warnings);
    ok = ok && passes;
  }
  if (as_json) {
    std::printf("%s\n", CheckReportJson(options.files, all, ok).c_str());
  } else if (const std::string summary = SummaryOf(all); !summary.empty()) {
    std::printf("%s\n", summary.c_str());
  }
  return ok ? 0 : 1;
}

}  // namespace levee
