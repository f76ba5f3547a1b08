// SPDX-License-Identifier: Apache-2.0
// For how long a connection has done nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Sees a connection only now and then, so that calls need not touch it. A value without clock; one
// thread.
class IdleClock {
 public:
  // `work`: grows with all that the connection does. `busy`: it does something now. Returns for how
  // long at least it has done nothing; zero at the first look.
  absl::Duration Look(uint64_t work, bool busy, Instant now) {
    if (busy || work != work_) {
      work_ = work;
      since_ = now;
    }
    return now - since_;
  }

 private:
  std::optional<uint64_t> work_;  // at the last look
  Instant since_;
};

}  // namespace levee
