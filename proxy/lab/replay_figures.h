// SPDX-License-Identifier: Apache-2.0
// Adds up what became of the calls of a log.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "lab/replay.h"

namespace levee {

// How a call ended, as it was recorded or as it was replayed.
struct CallEnd {
  absl::Duration at;  // when it began, since the first call
  absl::Duration took;
  int attempts = 0;
  bool ok = false;
  bool first_failed = false;  // its first attempt did
};

class ReplayTally {
 public:
  void Add(const CallEnd& end);
  ReplayFigures Figures();

 private:
  struct Second {
    int64_t calls = 0;
    int64_t attempts = 0;
  };

  ReplayFigures sums_;
  std::map<int64_t, Second> seconds_;
  std::vector<double> good_s_;  // how long the good ones took
};

}  // namespace levee
