// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_command.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "cli/output.h"
#include "config/check_report.h"
#include "config/load.h"
#include "lab/recorded_calls.h"
#include "lab/replay.h"
#include "lab/replay_text.h"

namespace levee {
namespace {

constexpr size_t kMaxLogBytes = size_t{1} << 30;

int PrintFaults(const std::vector<Fault>& faults) {
  std::fprintf(stderr, "%s\n", FormatFaults(faults).c_str());
  return 1;
}

int PrintError(const absl::Status& status) {
  std::fprintf(stderr, "levee replay: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

CLI::App* AddReplay(CLI::App& app, ReplayOptions& options) {
  CLI::App* replay =
      app.add_subcommand("replay", "say what another policy had done with the calls of a log");
  replay->add_option("logs", options.logs, "access logs of all calls, '-': standard input")
      ->type_name("LOG")
      ->required();
  replay->add_option("--config", options.config, "the policy file to try")
      ->type_name("FILE")
      ->required();
  replay->add_option("--against", options.against, "another policy file, to compare")
      ->type_name("FILE");
  replay->add_option("--seed", options.seed, "of what is drawn")
      ->type_name("N")
      ->capture_default_str();
  replay->add_option("-o,--output", options.output, "how it is printed: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  replay->add_option("--html", options.html, "write it to this file as well")->type_name("OUT");
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
  FaultList unread;
  std::vector<ConfigText> logs;
  for (const std::string& file : options.logs) {
    std::optional<ConfigText> text = ReadInput(file, kMaxLogBytes, unread);
    if (text.has_value()) logs.push_back(*std::move(text));
  }
  if (!unread.empty()) return PrintFaults(unread.Sorted(options.logs));
  const auto calls = ReadRecordedCalls(logs);
  if (!calls.ok()) return PrintError(calls.status());
  const auto replay = ReplayCalls(*calls, configs, options.seed);
  if (!replay.ok()) return PrintError(replay.status());
  const std::string printed = options.output == "json" ? ReplayJson(*replay) : ReplayText(*replay);
  std::fputs(printed.c_str(), stdout);
  const bool written =
      options.html.empty() || WriteOutput("levee replay", options.html, ReplayHtml(*replay));
  return written ? 0 : 1;
}

}  // namespace levee
