// SPDX-License-Identifier: Apache-2.0
#include "policy/backoff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace levee {
namespace {

// Used for `max: none`, so that every delay can be added to an Instant.
constexpr absl::Duration kLongestDelay = absl::Hours(24 * 365);

// The resolution of timers.
constexpr absl::Duration kTick = absl::Milliseconds(1);

// Returns a uniform number of whole nanoseconds in [0, bound); zero if there are none.
absl::Duration UniformBelow(absl::Duration bound, Random& random) {
  const int64_t nanos = absl::ToInt64Nanoseconds(bound);
  if (nanos <= 0) return absl::ZeroDuration();
  return absl::Nanoseconds(static_cast<int64_t>(random.Below(static_cast<uint64_t>(nanos))));
}

// initial x multiplier^(n-1), at most `limit`.
absl::Duration Nominal(const BackoffPolicy& policy, int n, absl::Duration limit) {
  const double factor = std::pow(policy.multiplier, n - 1);
  // A power beyond what a double holds is infinite, and so is the product: `limit` rules.
  return std::min(policy.initial * factor, limit);
}

// One delay around `nominal`, which is above zero. `previous`: the delay before it, for
// kDecorrelated.
absl::Duration Jittered(const BackoffPolicy& policy, absl::Duration nominal,
                        absl::Duration previous, Random& random) {
  switch (policy.jitter) {
    case Jitter::kNone:
      return nominal;
    case Jitter::kFull:
      return UniformBelow(nominal, random);
    case Jitter::kEqual: {
      const absl::Duration half = nominal / 2;
      return half + UniformBelow(nominal - half, random);
    }
    case Jitter::kFactor: {
      const absl::Duration spread = nominal * policy.factor;
      return nominal - spread + UniformBelow(2 * spread, random);
    }
    case Jitter::kAdd:
      return nominal + UniformBelow(policy.add + absl::Nanoseconds(1), random);
    case Jitter::kDecorrelated: {
      const absl::Duration from = std::max(previous, policy.initial);
      return policy.initial + UniformBelow(3 * from - policy.initial, random);
    }
  }
  return nominal;
}

// Returns the least delay that Jittered can make of `nominal`.
absl::Duration LeastJittered(const BackoffPolicy& policy, absl::Duration nominal) {
  switch (policy.jitter) {
    case Jitter::kFull:
      return absl::ZeroDuration();
    case Jitter::kEqual:
      return nominal / 2;
    case Jitter::kFactor:
      return nominal - nominal * policy.factor;
    case Jitter::kDecorrelated:
      return policy.initial;
    case Jitter::kNone:
    case Jitter::kAdd:
      return nominal;
  }
  return nominal;
}

absl::Duration Slotted(const BackoffPolicy& policy, int n, Random& random) {
  const uint64_t slots = uint64_t{1} << std::min(n, policy.truncate);
  const absl::Duration delay = policy.slot * static_cast<int64_t>(random.Below(slots));
  return std::min(absl::Ceil(delay, kTick), kLongestDelay);
}

// Returns the random part of the first delay: what it has above its least.
absl::Duration FirstJitter(const BackoffPolicy& policy, Random& random) {
  switch (policy.kind) {
    case BackoffPolicy::Kind::kSchedule:
      return absl::ZeroDuration();
    case BackoffPolicy::Kind::kSlot:
      return Slotted(policy, 1, random);
    case BackoffPolicy::Kind::kExponential:
      return Jittered(policy, policy.initial, absl::ZeroDuration(), random) -
             LeastJittered(policy, policy.initial);
  }
  return absl::ZeroDuration();
}

}  // namespace

absl::Duration Backoff::Next(const BackoffPolicy& policy, Random& random) {
  ++retries_;
  switch (policy.kind) {
    case BackoffPolicy::Kind::kSchedule:
      previous_ =
          policy.schedule[std::min(static_cast<size_t>(retries_), policy.schedule.size()) - 1];
      break;
    case BackoffPolicy::Kind::kSlot:
      previous_ = Slotted(policy, retries_, random);
      break;
    case BackoffPolicy::Kind::kExponential: {
      const absl::Duration max = std::min(policy.max, kLongestDelay);
      const absl::Duration limit = policy.cap_after_jitter ? kLongestDelay : max;
      const absl::Duration nominal = Nominal(policy, retries_, limit);
      absl::Duration delay = Jittered(policy, nominal, previous_, random);
      // Of these two kinds `max` bounds the whole delay; kFactor may go beyond it, as gRFC A6 has
      // it.
      const bool bounded = policy.jitter == Jitter::kAdd || policy.jitter == Jitter::kDecorrelated;
      if (policy.cap_after_jitter || bounded) delay = std::min(delay, max);
      previous_ = delay;
      break;
    }
  }
  return previous_;
}

absl::Duration Backoff::NextAfterAdvice(const BackoffPolicy& policy, absl::Duration at_least,
                                        Random& random) {
  Restart();
  return at_least + FirstJitter(policy, random);
}

void Backoff::Restart() {
  retries_ = 0;
  previous_ = absl::ZeroDuration();
}

}  // namespace levee
