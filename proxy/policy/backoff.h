// SPDX-License-Identifier: Apache-2.0
// The delay before the n-th retry: exponential backoff with jitter, a schedule, or slots.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"

namespace levee {

// How an exponential delay is spread. nominal = initial x multiplier^(n-1) for retry n.
enum class Jitter {
  kNone,          // min(nominal, max)
  kFull,          // uniform [0, min(nominal, max))
  kEqual,         // half of min(nominal, max) plus uniform [0, the other half)
  kFactor,        // min(nominal, max) x uniform [1-factor, 1+factor)     (gRFC A6: 0.2)
  kAdd,           // min(nominal + uniform [0, add], max)                 (Google Cloud's)
  kDecorrelated,  // min(max, uniform [initial, 3 x previous))            (AWS builders' library)
};

struct BackoffPolicy {
  enum class Kind {
    kExponential,
    kSchedule,  // schedule[n-1]; the last repeats
    kSlot,      // slot x uniform integer {0 .. 2^min(n, truncate) - 1}, rounded up to 1 ms
                // (truncated binary exponential backoff, IEEE 802.3)
  };
  Kind kind = Kind::kExponential;

  // kExponential
  absl::Duration initial = absl::Milliseconds(25);  // above zero
  double multiplier = 2;                            // at least 1
  absl::Duration max = absl::Seconds(1);            // at least initial
  Jitter jitter = Jitter::kFull;
  double factor = 0;                          // for Jitter::kFactor: in (0, 1]
  absl::Duration add = absl::ZeroDuration();  // for Jitter::kAdd: above zero
  // `max` bounds the delay after the jitter, and not the nominal delay before it (kFull: min(max,
  // uniform [0, nominal])).
  bool cap_after_jitter = false;

  std::vector<absl::Duration> schedule;  // kSchedule: at least one

  // kSlot
  absl::Duration slot = absl::ZeroDuration();  // above zero
  int truncate = 10;                           // 1 to 30

  // Every kind. Infinite: no bound.
  absl::Duration max_elapsed = absl::InfiniteDuration();  // no retry starts later than this after
                                                          // the call's first attempt
  absl::Duration max_advice = absl::Seconds(60);  // a server's advice above this ends retrying

  bool operator==(const BackoffPolicy&) const = default;
};

// How one delay is distributed: `least` and `step` x a uniform whole number below `steps`, rounded
// up to `tick`, and at most `most`. Backoff draws its delays from these, and `levee explain` tells
// what they are on average and at worst.
struct DelayLaw {
  absl::Duration least;
  absl::Duration step = absl::Nanoseconds(1);
  uint64_t steps = 0;  // 0: nothing is drawn
  absl::Duration tick = absl::Nanoseconds(1);
  absl::Duration most = absl::InfiniteDuration();
};

// Returns initial x multiplier^(n-1), at most `max` unless that bounds the delay after its jitter.
// Of kExponential only.
absl::Duration NominalDelay(const BackoffPolicy& policy, int n);

// Returns the law of the delay before retry `n`, from 1. `previous`: the delay before it, for
// Jitter::kDecorrelated; zero: there was none.
DelayLaw LawOfDelay(const BackoffPolicy& policy, int n, absl::Duration previous);

// The position of one call in its sequence of delays. A value without clock; one thread. The policy
// is passed each time, since a rule may bring another one for the next retry; n goes on counting.
class Backoff {
 public:
  // Returns the delay before the next retry and advances n. Never negative, and finite even where
  // the policy's `max` is not.
  absl::Duration Next(const BackoffPolicy& policy, Random& random);

  // Returns the delay before a retry that the server wants no earlier than `at_least`. It is
  // `at_least` and the random part of the policy's first delay, so that callers who got the same
  // advice stay spread; `max` does not bound it. The next delay starts again at n = 1.
  absl::Duration NextAfterAdvice(const BackoffPolicy& policy, absl::Duration at_least,
                                 Random& random);

  // The next delay starts again at n = 1 (gRFC A6: after a server's pushback).
  void Restart();

 private:
  int retries_ = 0;                                 // since the start or the last restart
  absl::Duration previous_ = absl::ZeroDuration();  // the last delay; zero: none yet
};

}  // namespace levee
