#include "config/load.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/build.h"
#include "config/field_checker.h"
#include "config/merge.h"
#include "config/positions.h"
#include "config/validate.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

// The file's content, nullopt with a fault if it cannot be had.
std::optional<std::string> ReadFile(const std::string& name, FaultList& faults) {
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::string text(kMaxConfigFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file && !file.eof())) {
    faults.Add({name, 0, 0, ""},
               absl::StrCat("cannot be read: ", std::generic_category().message(errno)));
    return std::nullopt;
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxConfigFileBytes) {
    faults.Add({name, 0, 0, ""}, "is larger than 1 MiB; split it into several files");
    return std::nullopt;
  }
  return text;
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
  upstream.add_endpoints(address);
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
  FieldChecker(merged.positions, faults).CheckMessage("", merged.config);
  Validate(merged.config, merged.positions, faults);
  if (!faults.empty()) return {nullptr, faults.Sorted(names)};
  return {Build(merged.config, merged.positions), {}};
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
    std::optional<std::string> text = ReadFile(name, faults);
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
