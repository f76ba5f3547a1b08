// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/format_option.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print_faults.h"
#include "config/check_report.h"
#include "config/load.h"
#include "lab/advice.h"
#include "lab/recorded_calls.h"
#include "lab/replay.h"
#include "lab/replay_text.h"

namespace levee {
namespace {

constexpr size_t kMaxLogBytes = size_t{1} << 30;

int PrintError(const char* command, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", command, std::string(status.message()).c_str());
  return 1;
}

// Returns nullopt, with the reason on standard error, if the logs cannot be read or are too poor.
std::optional<std::vector<RecordedCall>> ReadLogs(const char* command,
                                                  const std::vector<std::string>& files) {
  FaultList unread;
  std::vector<ConfigText> logs;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxLogBytes, unread);
    if (text.has_value()) logs.push_back(*std::move(text));
  }
  if (!unread.empty()) {
    PrintFaults(unread.Sorted(files));
    return std::nullopt;
  }
  auto calls = ReadRecordedCalls(logs);
  if (calls.ok()) return *std::move(calls);
  PrintError(command, calls.status());
  return std::nullopt;
}

void AddLogs(Command command, std::vector<std::string>& logs) {
  command.AddOption("logs", logs, "access logs of all calls; '-' is standard input")
      .ValueName("LOG")
      .Required();
}

}  // namespace

Command AddReplay(Command app, ReplayOptions& options) {
  Command replay =
      app.AddCommand("replay", "say what another policy would have done with the calls of a log");
  AddLogs(replay, options.logs);
  replay.AddOption("--config", options.config, "the policy file to try")
      .ValueName("FILE")
      .Required();
  replay.AddOption("--against", options.against, "another policy file, to compare")
      .ValueName("FILE");
  replay.AddOption("--seed", options.seed, "seed of all random choices")
      .ValueName("N")
      .ShowDefault();
  AddFormat(replay, options.output);
  replay.AddOption("--html", options.html, "also write the result to this file").ValueName("OUT");
  return replay;
}

int RunReplay(const ReplayOptions& options) {
  std::vector<ReplayConfig> configs;
  for (const std::string& file : {options.config, options.against}) {
    if (file.empty()) continue;
    const CheckedConfig checked = CheckConfig({.files = {file}});
    if (!checked.faults.empty()) return PrintFaults(checked.faults);
    configs.push_back({file, checked.snapshot});
  }
  auto calls = ReadLogs("levee replay", options.logs);
  if (!calls.has_value()) return 1;
  const auto replay = ReplayCalls(*std::move(calls), configs, options.seed);
  if (!replay.ok()) return PrintError("levee replay", replay.status());
  const std::string printed = options.output == "json" ? ReplayJson(*replay) : ReplayText(*replay);
  std::fputs(printed.c_str(), stdout);
  const bool written =
      options.html.empty() || WriteOutput("levee replay", options.html, ReplayHtml(*replay));
  return written ? 0 : 1;
}

Command AddAdvise(Command app, AdviseOptions& options) {
  Command advise =
      app.AddCommand("advise", "print which values of a policy do not fit the calls of a log");
  AddLogs(advise, options.logs);
  advise.AddOption("--config", options.config, "the policy file that was in effect")
      .ValueName("FILE")
      .Required();
  advise.Footer("It prints a part of a policy file and changes nothing.");
  return advise;
}

int RunAdvise(const AdviseOptions& options) {
  const CheckedConfig checked = CheckConfig({.files = {options.config}});
  if (!checked.faults.empty()) return PrintFaults(checked.faults);
  const auto calls = ReadLogs("levee advise", options.logs);
  if (!calls.has_value()) return 1;
  const std::string replay = absl::StrCat("levee replay ", absl::StrJoin(options.logs, " "),
                                          " --config NEW.yaml --against ", options.config);
  std::fputs(AdviceText(Advise(*calls, *checked.snapshot), replay).c_str(), stdout);
  return 0;
}

}  // namespace levee
