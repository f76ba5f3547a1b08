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

// Returns the law of `least` and a uniform number of whole nanoseconds below `width`.
DelayLaw Spread(absl::Duration least, absl::Duration width) {
  const int64_t nanos = std::max<int64_t>(absl::ToInt64Nanoseconds(width), 0);
  return {.least = least, .steps = static_cast<uint64_t>(nanos)};
}

// The law around `nominal`, which is above zero, without its bound.
DelayLaw Jittered(const BackoffPolicy& policy, absl::Duration nominal, absl::Duration previous) {
  switch (policy.jitter) {
    case Jitter::kNone:
      return {.least = nominal};
    case Jitter::kFull:
      return Spread(absl::ZeroDuration(), nominal);
    case Jitter::kEqual:
      return Spread(nominal / 2, nominal - nominal / 2);
    case Jitter::kFactor: {
      const absl::Duration spread = nominal * policy.factor;
      return Spread(nominal - spread, 2 * spread);
    }
    case Jitter::kAdd:
      return Spread(nominal, policy.add + absl::Nanoseconds(1));
    case Jitter::kDecorrelated:
      return Spread(policy.initial, 3 * std::max(previous, policy.initial) - policy.initial);
  }
  return {.least = nominal};
}

DelayLaw Slotted(const BackoffPolicy& policy, int n) {
  return {.step = policy.slot,
          .steps = uint64_t{1} << std::min(n, policy.truncate),
          .tick = kTick,
          .most = kLongestDelay};
}

DelayLaw Exponential(const BackoffPolicy& policy, int n, absl::Duration previous) {
  DelayLaw law = Jittered(policy, NominalDelay(policy, n), previous);
  // Of these two kinds `max` bounds the whole delay; kFactor may go beyond it, as gRFC A6 has it.
  const bool bounded = policy.jitter == Jitter::kAdd || policy.jitter == Jitter::kDecorrelated;
  if (policy.cap_after_jitter || bounded) law.most = std::min(policy.max, kLongestDelay);
  return law;
}

// Draws the part of a delay above its least.
absl::Duration DrawJitter(const DelayLaw& law, Random& random) {
  if (law.steps == 0) return absl::ZeroDuration();
  const absl::Duration jitter = law.step * static_cast<int64_t>(random.Below(law.steps));
  return law.tick == absl::Nanoseconds(1) ? jitter : absl::Ceil(jitter, law.tick);
}

}  // namespace

absl::Duration NominalDelay(const BackoffPolicy& policy, int n) {
  const absl::Duration limit =
      policy.cap_after_jitter ? kLongestDelay : std::min(policy.max, kLongestDelay);
  const double factor = std::pow(policy.multiplier, n - 1);
  // A power beyond what a double holds is infinite, and so is the product: `limit` rules.
  return std::min(policy.initial * factor, limit);
}

DelayLaw LawOfDelay(const BackoffPolicy& policy, int n, absl::Duration previous) {
  switch (policy.kind) {
    case BackoffPolicy::Kind::kSchedule:
      return {.least =
                  policy.schedule[std::min(static_cast<size_t>(n), policy.schedule.size()) - 1]};
    case BackoffPolicy::Kind::kSlot:
      return Slotted(policy, n);
    case BackoffPolicy::Kind::kExponential:
      return Exponential(policy, n, previous);
  }
  return {};
}

absl::Duration Backoff::Next(const BackoffPolicy& policy, Random& random) {
  const DelayLaw law = LawOfDelay(policy, ++retries_, previous_);
  previous_ = std::min(law.least + DrawJitter(law, random), law.most);
  return previous_;
}

absl::Duration Backoff::NextAfterAdvice(const BackoffPolicy& policy, absl::Duration at_least,
                                        Random& random) {
  Restart();
  return at_least + DrawJitter(LawOfDelay(policy, 1, absl::ZeroDuration()), random);
}

void Backoff::Restart() {
  retries_ = 0;
  previous_ = absl::ZeroDuration();
}

}  // namespace levee
