// Exponential backoff with jitter: the delay before the n-th retry.
#pragma once

#include "absl/time/time.h"
#include "base/random.h"

namespace levee {

// How the delay is spread. nominal = initial x multiplier^(n-1) for retry n.
enum class Jitter {
  kNone,          // min(nominal, max)
  kFull,          // uniform [0, min(nominal, max))
  kEqual,         // half of min(nominal, max) plus uniform [0, the other half)
  kFactor,        // min(nominal, max) x uniform [1-factor, 1+factor)     (gRFC A6: 0.2)
  kAdd,           // min(nominal + uniform [0, add], max)                 (Google Cloud's)
  kDecorrelated,  // min(max, uniform [initial, 3 x previous))            (AWS builders' library)
};

struct BackoffPolicy {
  absl::Duration initial = absl::Milliseconds(25);  // above zero
  double multiplier = 2;                            // at least 1
  absl::Duration max = absl::Seconds(1);            // at least initial
  Jitter jitter = Jitter::kFull;
  double factor = 0;                              // for kFactor: in (0, 1]
  absl::Duration add = absl::ZeroDuration();      // for kAdd: above zero
  absl::Duration max_advice = absl::Seconds(60);  // a server's advice above this ends retrying
};

// The delays of one call. A value without clock; the policy must outlive it. One thread.
class Backoff {
 public:
  explicit Backoff(const BackoffPolicy* policy) : policy_(policy) {}

  // The delay before the next retry; each call advances n. Never negative, and finite even where
  // the policy's `max` is not.
  absl::Duration Next(Random& random);

  // The next delay starts again at `initial` (gRFC A6: after a server's pushback).
  void Restart();

 private:
  const BackoffPolicy* policy_;
  absl::Duration nominal_ = absl::ZeroDuration();  // of the last retry, at most max; zero: none yet
  absl::Duration previous_ = absl::ZeroDuration();  // the last delay; kDecorrelated only
};

}  // namespace levee
