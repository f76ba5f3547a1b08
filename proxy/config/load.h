// Loads the configuration: files -> YAML -> message -> snapshot, or every fault there is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/fault.h"
#include "settings/snapshot.h"

namespace levee {

// Larger files are refused unread: nobody writes them, and the device files that somebody names by
// mistake never end.
inline constexpr size_t kMaxConfigFileBytes = 1 << 20;

struct ConfigInput {
  std::vector<std::string> files;  // one configuration, later files over earlier ones
  std::optional<std::string> to;   // HOST:PORT: every call goes there with policy "default"
};

// A configuration that is not (or no longer) a file.
struct ConfigText {
  std::string name;  // for places
  std::string text;
};

// Either a snapshot or what is wrong, in the order of files and lines.
struct CheckedConfig {
  std::shared_ptr<const Snapshot> snapshot;  // nullptr iff there are faults
  std::vector<Fault> faults;
  std::vector<Fault> warnings;  // what is legal but dangerous; of a configuration with faults, as
                                // far as it could be read
  std::vector<std::string> reads;  // files that the configuration names and consists of beside
                                   // those it was given as: descriptor sets, by absolute paths;
                                   // also with faults, as far as it could be read
  std::vector<std::string> empty;  // files that it was given as and that had no byte
};

// Without files: the built-in default.
CheckedConfig CheckConfig(const ConfigInput& input);

// `unread`: faults of parts that could not be had.
CheckedConfig CheckConfig(const std::vector<ConfigText>& texts,
                          const std::optional<std::string>& to, FaultList unread = FaultList());

// The error's message is all faults, one per line.
absl::StatusOr<std::shared_ptr<const Snapshot>> ParseConfig(const std::string& name,
                                                            const std::string& text);

}  // namespace levee
