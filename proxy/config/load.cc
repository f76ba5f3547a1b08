// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/build.h"
#include "config/command_line.h"
#include "config/descriptor_set.h"
#include "config/field_checker.h"
#include "config/merge.h"
#include "config/positions.h"
#include "config/read_file.h"
#include "config/validate.h"
#include "config/validate_inbound.h"
#include "config/warnings.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

// Returns the file's content; nullopt, with a fault, if it cannot be read.
std::optional<std::string> ReadConfigFile(const std::string& name, FaultList& faults) {
  absl::StatusOr<std::string> text = ReadFile(name, kMaxConfigFileBytes);
  if (text.ok()) return *std::move(text);
  const bool large = absl::IsOutOfRange(text.status());
  faults.Add({name, 0, 0, ""}, large ? CheckCode::kFileTooLarge : CheckCode::kUnreadableFile,
             large ? "is larger than 1 MiB; split it into several files"
                   : absl::StrCat("cannot be read: ", text.status().message()));
  return std::nullopt;
}

// A file that has policies, but none named default, gets the built-in one too.
void KeepDefaultPolicy(ReadConfig& read) {
  if (!read.positions.Has("policies") || read.positions.Broken("policies")) return;
  for (const config::v1::Policy& policy : read.config.policies()) {
    if (policy.name() == "default") return;
  }
  read.config.add_policies()->set_name("default");
}

// Calls that are hedged are not retried, nor are calls to the application, so the default of
// retry.max_attempts would contradict.
void RetryNothingByDefault(ReadConfig& read) {
  for (config::v1::Policy& policy : *read.config.mutable_policies()) {
    const bool never = policy.has_hedge() || policy.has_guard();
    if (never && !policy.retry().has_max_attempts()) policy.mutable_retry()->set_max_attempts(1);
  }
}

// CONNECT leads anywhere, which is for the application, and not for its callers.
void TunnelNothingInbound(config::v1::Config& config) {
  for (config::v1::Listener& listener : *config.mutable_listeners()) {
    const bool inbound = listener.direction() == config::v1::Listener::DIRECTION_INBOUND;
    if (!inbound || listener.capture_size() > 0) continue;
    listener.add_capture(config::v1::Listener::CAPTURE_H2C);
  }
}

// Only Unix sockets have permissions; elsewhere the default would mean nothing.
void ForgetModesOfPorts(config::v1::Config& config) {
  for (config::v1::Listener& listener : *config.mutable_listeners()) {
    if (!listener.address().starts_with("unix:")) listener.clear_mode();
  }
}

// The bounds of an adaptive limit mean nothing to another one.
void ForgetBoundsOfFixedLimits(config::v1::Config& config) {
  for (config::v1::Policy& policy : *config.mutable_policies()) {
    if (!policy.has_guard() || policy.guard().concurrency().limit() == "adaptive") continue;
    config::v1::Guard::Concurrency& limit = *policy.mutable_guard()->mutable_concurrency();
    limit.clear_initial();
    limit.clear_min();
    limit.clear_max();
  }
}

// Makes the paths of files absolute: each is relative to the file that names it. Returns the files
// that are read as parts of the configuration, each once.
std::vector<std::string> ResolvePaths(ReadConfig& read) {
  std::vector<std::string> reads;
  for (int i = 0; i < read.config.upstreams_size(); ++i) {
    const std::string& named = read.config.upstreams(i).descriptor_set();
    if (named.empty() || named == "none") continue;
    const Place place = read.positions.Find(absl::StrCat("upstreams[", i, "].descriptor_set"));
    const std::string path = PathBeside(place.file, named);
    read.config.mutable_upstreams(i)->set_descriptor_set(path);
    if (std::find(reads.begin(), reads.end(), path) == reads.end()) reads.push_back(path);
  }
  const std::string& log = read.config.access_log().path();
  if (!log.empty() && log != "none" && log != "stdout") {
    read.config.mutable_access_log()->set_path(
        PathBeside(read.positions.Find("access_log.path").file, log));
  }
  return reads;
}

// The files of `input` are `texts`. `kept`: as `complete` of CheckConfig, if it is not nullptr.
CheckedConfig Check(const std::vector<ConfigText>& texts, const ConfigInput& input,
                    FaultList faults, const Room& room, ReadConfig* kept = nullptr) {
  std::vector<std::string> names;
  bool complete = faults.empty();
  ReadConfig merged;
  std::optional<ReplacedEntry> first_replaced;
  for (const auto& [name, text] : texts) {
    ReadConfig read;
    // If a file was read only in part, it is not known what the rest contains.
    if (ReadYaml(name, text, read.config, read.positions, faults)) {
      const std::optional<ReplacedEntry> replaced = Merge(read, merged);
      if (!first_replaced.has_value()) first_replaced = replaced;
    } else {
      complete = false;
    }
    names.push_back(name);
  }
  TakeOptions(input, merged);
  CheckedConfig checked;
  checked.replaced = first_replaced;
  checked.reads = ResolvePaths(merged);
  KeepDefaultPolicy(merged);
  RetryNothingByDefault(merged);
  TunnelNothingInbound(merged.config);
  FieldChecker(merged.positions, faults).CheckMessage("", merged.config);
  // References to a part that could not be read would be reported as dangling.
  if (complete) {
    Validate(merged.config, merged.positions, faults);
    ValidateInbound(merged.config, merged.positions, faults);
  }
  const auto methods = LoadDescriptorSets(merged.config, merged.positions, faults);
  ForgetModesOfPorts(merged.config);
  ForgetBoundsOfFixedLimits(merged.config);
  FaultList warnings(CheckCode::kMoreWarnings);
  FindWarnings(merged.config, merged.positions, methods, faults, complete, warnings);
  if (faults.empty()) {
    checked.snapshot = Build(merged.config, merged.positions, methods);
    FindRoomWarnings(checked.snapshot->limits, merged.positions, room, warnings);
    if (kept != nullptr) *kept = std::move(merged);
  }
  checked.warnings = warnings.Sorted(names);
  checked.faults = faults.Sorted(names);
  return checked;
}

absl::StatusOr<std::shared_ptr<const Snapshot>> ToStatus(CheckedConfig checked) {
  if (checked.snapshot == nullptr) {
    return absl::InvalidArgumentError(FormatFaults(checked.faults));
  }
  return std::move(checked.snapshot);
}

}  // namespace

CheckedConfig CheckConfig(const ConfigInput& input) {
  FaultList faults;
  std::vector<ConfigText> texts;
  std::vector<std::string> empty;
  for (const std::string& name : input.files) {
    if (name == kStandardInput) {
      texts.push_back({name, input.standard_input});
      continue;
    }
    std::optional<std::string> text = ReadConfigFile(name, faults);
    if (!text.has_value()) continue;
    if (text->empty()) empty.push_back(name);
    texts.push_back({name, *std::move(text)});
  }
  CheckedConfig checked = Check(texts, input, std::move(faults), {});
  checked.empty = std::move(empty);
  return checked;
}

CheckedConfig CheckConfig(const std::vector<ConfigText>& texts,
                          const std::optional<std::string>& to, FaultList unread,
                          const Room& room) {
  return Check(texts, {.files = {}, .to = to}, std::move(unread), room);
}

CheckedConfig CheckConfig(const std::vector<ConfigText>& texts, FaultList unread,
                          ReadConfig& complete) {
  return Check(texts, {}, std::move(unread), {}, &complete);
}

absl::StatusOr<std::shared_ptr<const Snapshot>> ParseConfig(const std::string& name,
                                                            const std::string& text) {
  return ToStatus(CheckConfig({{name, text}}, std::nullopt));
}

}  // namespace levee
