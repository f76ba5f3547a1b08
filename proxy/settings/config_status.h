// SPDX-License-Identifier: Apache-2.0
// The configuration that runs, and the outcome of the last attempt to replace it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "settings/snapshot.h"

namespace levee {

struct ConfigStatus {
  std::shared_ptr<const Snapshot> snapshot;  // never nullptr
  absl::Time loaded;                         // when it took effect
  std::vector<std::string> files;            // as the command line gives them
  std::vector<std::string> warnings;         // about it, one line each
  uint64_t reloads = 0;                      // reloads that took effect
  uint64_t refused = 0;                      // reloads that were refused

  // The last attempt to reload. InfinitePast when there was none.
  absl::Time last_attempt = absl::InfinitePast();

  // Why the last attempt was refused, one line each. Empty when it took effect or there was none.
  std::vector<std::string> faults;
};

}  // namespace levee
