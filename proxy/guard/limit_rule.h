// SPDX-License-Identifier: Apache-2.0
// How many calls a service should work on at a time: the rule that a guard's limit follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/time/time.h"

namespace levee {

// The times of the calls of one method that ended while a limit was being judged.
struct MethodSamples {
  int method = 0;                              // its number: small, the same in every window
  int64_t calls = 0;                           // at least 1
  int64_t answered = 0;                        // of these; deadlines ended the others
  absl::Duration time = absl::ZeroDuration();  // of all calls together, in the service
  double squares = 0;                          // of their times in seconds, together
};

// The calls of all methods.
inline int64_t CallsOf(std::span<const MethodSamples> samples) {
  int64_t calls = 0;
  for (const MethodSamples& method : samples) calls += method.calls;
  return calls;
}

// The facts between two decisions, while the limit stood still.
struct LimitWindow {
  absl::Duration length = absl::ZeroDuration();  // above zero
  std::span<const MethodSamples> samples;        // of unary calls, by what they took
  int64_t answered = 0;                          // unary calls
  int64_t cut = 0;       // unary calls that deadlines ended while they had slots
  bool full = false;     // a call found no slot
  int unknown = 0;       // slots that unary calls hold now of methods of which none has ended
  double refused = 0;    // as a share of the calls that arrived
  double in_flight = 0;  // the average that arriving calls found
};

// A limit, and how long it stands.
struct LimitStep {
  int limit = 1;
  // A call that ends before this time has passed began under the limit before, and is not sampled.
  absl::Duration settle = absl::ZeroDuration();
  absl::Duration measure = absl::Milliseconds(100);
};

// An object without clock; one thread.
class LimitRule {
 public:
  virtual ~LimitRule() = default;

  // Returns the first limit.
  virtual LimitStep Begin() = 0;

  // Returns the limit that follows what was seen under the last one. Returns nullopt if too little
  // was seen: the window goes on, and is asked about again when it is longer by `measure`.
  virtual std::optional<LimitStep> Next(const LimitWindow& window) = 0;
};

}  // namespace levee
