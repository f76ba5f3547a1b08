// SPDX-License-Identifier: Apache-2.0
// The calls of a connection that no report has spoken for.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Of one connection; one thread. Calls to one guard at a time: one to another begins anew, so calls
// never count where they did not go.
class UnreportedCalls {
 public:
  // A call has come for the guard with this address.
  void Add(const void* guard, Instant now) {
    constexpr absl::Duration kCounted = absl::Seconds(10);
    if (guard != guard_ || now - since_ > kCounted) {
      guard_ = guard;
      since_ = now;
      calls_ = 0;
    }
    ++calls_;
  }

  // Returns how many have come, the last one included. A report speaks for them now.
  int64_t Take() { return std::exchange(calls_, 0); }

 private:
  const void* guard_ = nullptr;
  Instant since_;
  int64_t calls_ = 0;
};

}  // namespace levee
