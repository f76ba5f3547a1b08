#include "config/load.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/addresses.h"
#include "config/build.h"
#include "config/descriptor_set.h"
#include "config/field_checker.h"
#include "config/merge.h"
#include "config/positions.h"
#include "config/read_file.h"
#include "config/validate.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

// The file's content, nullopt with a fault if it cannot be had.
std::optional<std::string> ReadConfigFile(const std::string& name, FaultList& faults) {
  absl::StatusOr<std::string> text = ReadFile(name, kMaxConfigFileBytes);
  if (text.ok()) return *std::move(text);
  faults.Add({name, 0, 0, ""}, absl::IsOutOfRange(text.status())
                                   ? "is larger than 1 MiB; split it into several files"
                                   : absl::StrCat("cannot be read: ", text.status().message()));
  return std::nullopt;
}

// `--to`: one upstream and one route instead of those of the files.
void SendEverythingTo(const std::string& address, ReadConfig& read) {
  for (const char* section : {"upstreams", "routes"}) {
    read.positions.Erase(section);
    read.positions.Set(section, {"--to", 0, 0, ""});
  }
  read.positions.Set("upstreams[0].endpoints[0]", {"--to", 0, 0, ""});
  read.config.clear_upstreams();
  read.config.clear_routes();
  config::v1::Upstream& upstream = *read.config.add_upstreams();
  upstream.set_name("to");
  // A name needs no "dns:" here.
  const bool name = !ParseEndpoint(address).ok() && ParseEndpoint("dns:" + address).ok();
  upstream.add_endpoints(name ? "dns:" + address : address);
  config::v1::Route& route = *read.config.add_routes();
  route.set_upstream("to");
  route.set_policy("default");
}

// A file that has policies, but none named default, has the built-in one as well.
void KeepDefaultPolicy(ReadConfig& read) {
  if (!read.positions.Has("policies") || read.positions.Broken("policies")) return;
  for (const config::v1::Policy& policy : read.config.policies()) {
    if (policy.name() == "default") return;
  }
  read.config.add_policies()->set_name("default");
}

// Calls that are hedged are not retried, so the default of retry.max_attempts would contradict.
void RetryNothingWhereHedged(ReadConfig& read) {
  for (config::v1::Policy& policy : *read.config.mutable_policies()) {
    if (!policy.has_hedge() || policy.retry().has_max_attempts()) continue;
    policy.mutable_retry()->set_max_attempts(1);
  }
}

CheckedConfig Check(const std::vector<ConfigText>& texts, const std::optional<std::string>& to,
                    FaultList faults) {
  std::vector<std::string> names;
  bool complete = faults.empty();
  ReadConfig merged;
  for (const auto& [name, text] : texts) {
    ReadConfig read;
    complete &= ReadYaml(name, text, read.config, read.positions, faults);
    Merge(read, merged);
    names.push_back(name);
  }
  // What refers to a part that could not be read would be reported as dangling.
  if (!complete) return {nullptr, faults.Sorted(names)};
  if (to.has_value()) SendEverythingTo(*to, merged);
  KeepDefaultPolicy(merged);
  RetryNothingWhereHedged(merged);
  FieldChecker(merged.positions, faults).CheckMessage("", merged.config);
  Validate(merged.config, merged.positions, faults);
  const auto methods = LoadDescriptorSets(merged.config, merged.positions, faults);
  if (!faults.empty()) return {nullptr, faults.Sorted(names)};
  return {Build(merged.config, merged.positions, methods), {}};
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
  for (const std::string& name : input.files) {
    std::optional<std::string> text = ReadConfigFile(name, faults);
    if (text.has_value()) texts.push_back({name, *std::move(text)});
  }
  return Check(texts, input.to, std::move(faults));
}

CheckedConfig CheckConfig(const std::vector<ConfigText>& texts,
                          const std::optional<std::string>& to) {
  return Check(texts, to, FaultList());
}

absl::StatusOr<std::shared_ptr<const Snapshot>> LoadConfig(const ConfigInput& input) {
  return ToStatus(CheckConfig(input));
}

absl::StatusOr<std::shared_ptr<const Snapshot>> ParseConfig(const std::string& name,
                                                            const std::string& text) {
  return ToStatus(CheckConfig({{name, text}}, std::nullopt));
}

}  // namespace levee
