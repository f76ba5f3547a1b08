// Which configuration runs, and how the last attempt to replace it went.
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
  absl::Time loaded;
  std::vector<std::string> files;     // as on the command line
  std::vector<std::string> warnings;  // of the running one, a line each
  uint64_t reloads = 0;               // that took effect
  uint64_t refused = 0;
  absl::Time last_attempt = absl::InfinitePast();  // InfinitePast: there was none
  std::vector<std::string> faults;  // why the last attempt was refused, a line each; empty: it
                                    // took effect, or there was none
};

}  // namespace levee
