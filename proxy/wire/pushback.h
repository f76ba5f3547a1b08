// SPDX-License-Identifier: Apache-2.0
// The server's word on when to retry: grpc-retry-pushback-ms (gRFC A6).
#pragma once

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "wire/metadata.h"

namespace levee {

// The server's wish about the next attempt, from the trailers of a failed one.
struct Pushback {
  enum class Kind {
    kNone,       // no such field
    kDelay,      // retry exactly `delay` from now (zero: at once)
    kDoNotRetry  // negative, not a number, above 2^31-1, or given more than once
  };
  Kind kind = Kind::kNone;
  absl::Duration delay = absl::ZeroDuration();
};

// Reads every `grpc-retry-pushback-ms` field of `trailers`.
Pushback ParsePushback(const Metadata& trailers);

// Returns the field's value for a wait of at least zero: whole milliseconds, rounded up, so that a
// caller that comes back after them does not come too early.
std::string PushbackText(absl::Duration wait);

}  // namespace levee
