#include "policy/backoff.h"

#include <algorithm>
#include <cstdint>

namespace levee {
namespace {

// Stands in for `max: none`, so that every delay can be added to an Instant.
constexpr absl::Duration kLongestDelay = absl::Hours(24 * 365);

// Uniform over the whole nanoseconds in [0, bound); zero if there are none.
absl::Duration UniformBelow(absl::Duration bound, Random& random) {
  const int64_t nanos = absl::ToInt64Nanoseconds(bound);
  if (nanos <= 0) return absl::ZeroDuration();
  return absl::Nanoseconds(static_cast<int64_t>(random.Below(static_cast<uint64_t>(nanos))));
}

}  // namespace

absl::Duration Backoff::Next(Random& random) {
  const BackoffPolicy& policy = *policy_;
  const absl::Duration max = std::min(policy.max, kLongestDelay);
  // Growing the last nominal value instead of raising to a power cannot overflow, however many
  // retries there are: Duration saturates, and then `max` rules.
  nominal_ = std::min(
      nominal_ == absl::ZeroDuration() ? policy.initial : nominal_ * policy.multiplier, max);
  switch (policy.jitter) {
    case Jitter::kNone:
      return nominal_;
    case Jitter::kFull:
      return UniformBelow(nominal_, random);
    case Jitter::kEqual: {
      const absl::Duration half = nominal_ / 2;
      return half + UniformBelow(nominal_ - half, random);
    }
    case Jitter::kFactor: {
      const absl::Duration spread = nominal_ * policy.factor;
      return nominal_ - spread + UniformBelow(2 * spread, random);
    }
    case Jitter::kAdd: {
      const absl::Duration add = UniformBelow(policy.add + absl::Nanoseconds(1), random);
      return std::min(nominal_ + add, max);
    }
    case Jitter::kDecorrelated: {
      const absl::Duration previous = std::max(previous_, policy.initial);
      const absl::Duration spread = 3 * previous - policy.initial;
      previous_ = std::min(policy.initial + UniformBelow(spread, random), max);
      return previous_;
    }
  }
  return nominal_;
}

void Backoff::Restart() {
  nominal_ = absl::ZeroDuration();
  previous_ = absl::ZeroDuration();
}

}  // namespace levee
