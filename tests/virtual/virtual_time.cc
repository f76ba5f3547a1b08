// SPDX-License-Identifier: Apache-2.0
#include "virtual/virtual_time.h"

#include <sys/timerfd.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace levee {
namespace {

// Not zero and not a round number: a zero Instant that code relies on by mistake shows.
constexpr uint64_t kStart = 98'765'432'101;

uint64_t nanos = kStart;
Random randomness(1);

}  // namespace

void VirtualTime::Restart() {
  nanos = kStart;
  randomness = Random(1);
}

void VirtualTime::Advance(absl::Duration span) {
  nanos += static_cast<uint64_t>(absl::ToInt64Nanoseconds(span));
}

Instant VirtualTime::now() { return Instant::FromNanos(static_cast<int64_t>(nanos)); }

}  // namespace levee

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" uint64_t __wrap_uv_hrtime() { return levee::nanos; }

// Timers are due when the loop is turned: the kernel goes by real time.
extern "C" int __wrap_timerfd_settime(int, int, const itimerspec*, itimerspec*) { return 0; }

extern "C" ssize_t __wrap_getrandom(void* buffer, size_t size, unsigned int) {
  for (size_t i = 0; i < size; ++i) {
    static_cast<uint8_t*>(buffer)[i] = static_cast<uint8_t>(levee::randomness.Next());
  }
  return static_cast<ssize_t>(size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
