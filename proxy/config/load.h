// SPDX-License-Identifier: Apache-2.0
// Loads the configuration: files -> YAML -> message -> snapshot, or all faults.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/fault.h"
#include "config/room_warnings.h"
#include "settings/snapshot.h"
#include "tls/svid.h"

namespace levee {

struct ReadConfig;

// Larger files are refused unread: no user writes them, and a device file that is named by mistake
// never ends.
inline constexpr size_t kMaxConfigFileBytes = 1 << 20;

// The name of the file that stands for standard input.
inline constexpr char kStandardInput[] = "-";

struct ConfigInput {
  std::vector<std::string> files;   // one configuration, later files over earlier ones
  std::optional<std::string> to;    // HOST:PORT: every call goes there with policy "default"
  std::string standard_input = {};  // the text of the file "-", which can be read only once

  // HOST:PORT where calls to the application come in, which is at `to`, and a guard protects it.
  // Given only without files and with `to`.
  std::optional<std::string> guard = std::nullopt;

  // Addresses in place of the built-in ones, as listeners[0].address, metrics.address and
  // admin.address have them. Given only without files.
  std::optional<std::string> listen = std::nullopt;
  std::optional<std::string> metrics = std::nullopt;
  std::optional<std::string> admin = std::nullopt;

  // Of the Workload APIs that the configuration names. Without it nothing is known of any, and that
  // is no fault.
  tls::SvidSource svids = nullptr;
};

// A configuration as text, which is not (or no longer) in a file.
struct ConfigText {
  std::string name;  // for places
  std::string text;
};

// Either a snapshot or the faults, in the order of files and lines.
struct CheckedConfig {
  std::shared_ptr<const Snapshot> snapshot;  // nullptr iff there are faults
  std::vector<Fault> faults;
  std::vector<Fault> warnings;     // legal but dangerous; if there are faults, as far as the
                                   // configuration could be read
  std::vector<std::string> reads;  // files that the given ones name as parts of the
                                   // configuration: descriptor sets, by absolute paths; if there
                                   // are faults, as far as it could be read
  std::vector<std::string> empty;  // given files that had no byte
  std::optional<ReplacedEntry> replaced;  // the first entry that a later file has replaced

  // Returns `snapshot` as it would be with what the Workload APIs have given since. No file is read
  // again. Empty without a snapshot, and where the configuration names no Workload API. Any thread.
  std::function<std::shared_ptr<const Snapshot>()> renew;
};

// Reads and checks the files of `input`. Without files: the built-in default.
CheckedConfig CheckConfig(const ConfigInput& input);

// Checks the texts. `unread`: faults of parts that could not be read. `room`: of the machine for
// which it is checked.
CheckedConfig CheckConfig(const std::vector<ConfigText>& texts,
                          const std::optional<std::string>& to, FaultList unread = FaultList(),
                          const Room& room = {});

// Checks the texts, and if there is no fault leaves in `complete` the fields that the snapshot was
// built from, defaults included, with their places.
CheckedConfig CheckConfig(const std::vector<ConfigText>& texts, FaultList unread,
                          ReadConfig& complete);

// Parses one text. The error's message has all faults, one per line.
absl::StatusOr<std::shared_ptr<const Snapshot>> ParseConfig(const std::string& name,
                                                            const std::string& text);

}  // namespace levee
