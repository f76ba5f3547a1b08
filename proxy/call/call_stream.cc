// SPDX-License-Identifier: Apache-2.0
// What is different about a call that is a stream.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "call/call.h"

namespace levee {

// A message of the answer has come. The policy's bound is for unary calls, so it waits until it is
// known what the call is.
void Call::AwaitTrailers(Instant now) {
  const Instant until = books_.signs.quiet_at();
  guard_.OnPause(now);
  if (books_.deadline < until && !books_.signs.is_stream()) {
    books_.deadline = std::min(until, books_.callers_deadline);
  }
  WakeBy(until);
}

void Call::BecomeStream(Instant now) {
  books_.deadline =
      std::min(books_.callers_deadline, books_.record.start + books_.plan.policy.stream.timeout);
  attempts_.OnStream();
  books_.host.OnStream();
  guard_.OnStream(now);
  WakeBy(books_.deadline);
}

// When a stream has been silent for too long.
Instant Call::IdleAt() const {
  return std::max(books_.record.start, books_.signs.last_piece()) + books_.plan.policy.stream.idle;
}

// Ends a stream whose time is over by its policy.
void Call::EndStream(StreamBound bound, Instant now) {
  books_.record.ended_by = bound;
  attempts_.AbandonAll(StatusCode::kDeadlineExceeded, now);
  const char* const what = bound == StreamBound::kIdle
                               ? "no message came in either direction for stream.idle"
                               : "the stream has lasted for stream.timeout";
  EndLocally(StatusCode::kDeadlineExceeded,
             absl::StrCat(what, " of policy \"", books_.plan.policy.name, "\""), now);
}

}  // namespace levee
