// SPDX-License-Identifier: Apache-2.0
// Time and randomness of a whole worker in the hands of a test or a fuzzer.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// By the linker's --wrap, net/ calls these functions in place of those of the event library and the
// kernel. So an input takes the same path each time, and nothing waits. One thread.
class VirtualTime {
 public:
  // From the beginning again, randomness as well.
  static void Restart();

  static void Advance(absl::Duration span);

  // What net::ReadClock says.
  static Instant now();
};

}  // namespace levee
