// The configuration that runs, and the result of the last attempt to replace it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "config/snapshot.h"

namespace levee {

struct ConfigStatus {
  std::shared_ptr<const Snapshot> snapshot;  // never nullptr
  absl::Time loaded;
  std::vector<std::string> files;     // as on the command line
  std::vector<std::string> warnings;  // of the running configuration, a line each
  uint64_t reloads = 0;               // reloads that took effect
  uint64_t refused = 0;
  absl::Time last_attempt = absl::InfinitePast();  // InfinitePast: there was none
  std::vector<std::string> faults;  // why the last attempt was refused, a line each; empty: it
                                    // took effect, or there was none
};

}  // namespace levee
