// SPDX-License-Identifier: Apache-2.0
#include "guard/adaptive_limit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace levee {
namespace {

constexpr int64_t kLeastCalls = 20;  // of a window
constexpr absl::Duration kLongest = absl::Seconds(5);
// The first window lasts so long if no call ends in it. It is looked at so often.
constexpr absl::Duration kFirst = absl::Milliseconds(250);
constexpr absl::Duration kFirstLook = absl::Milliseconds(50);
// A window whose error is at most this says enough.
constexpr double kSure = 0.063;
constexpr double kSureToSearch = 0.2;
// Calls that seem to take all as long are taken to be spread as much (Base::spread).
constexpr double kLeastSpread = 0.1;
// The calls that a mean remembers.
constexpr double kMemory = 1000;
// A service with at most this share of its slots taken has nobody waiting.
constexpr double kRoomy = 0.5;
// Where calls of methods that nothing is known of hold this share of the slots, and none end, the
// limit is searched as at the start.
constexpr double kUnknown = 0.5;
// A service with at least this share of its slots taken is under load.
constexpr double kLoaded = 0.85;
// A service that has this share of its calls refused has too many.
constexpr double kOverload = 0.05;
// As many times the calls that are worked on may be inside while none are refused.
constexpr double kCalm = 2;
// The limit of a check, and the share of the throughput that checks may cost.
constexpr double kChecked = 0.75;
constexpr double kCheckCost = 0.01;
// A mean that was seen while the service had room needs no check for so many seconds of load.
constexpr double kTrusted = 30;
// A step down of less than this tells too little beside the noise.
constexpr double kTelling = 0.8;
// Where calls took so many times as long, and none of them waited, a dependency is slow.
constexpr double kDeep = 1.5;
// Where less than this share of the calls that had a slot is answered, the service works in vain.
constexpr double kInVain = 0.25;
// The limit that a search for less begins with, as a share of the one before.
constexpr double kRestart = 0.25;
// It does not begin below this where nothing at all is answered: a dependency may be away.
constexpr double kBlind = 4;

bool InVain(const LimitWindow& window) {
  const int64_t ended = window.answered + window.cut;
  return ended >= kLeastCalls &&
         static_cast<double>(window.answered) < kInVain * static_cast<double>(ended);
}

// How many calls wait inside of a service where few do, and many.
double FewWaiting(double limit) { return 0.25 + 0.05 * limit; }
double ManyWaiting(double limit) { return 1 + 0.15 * limit; }

// The inflation of a service in which so many calls wait.
double InflationOf(double limit, double waiting) {
  return waiting < limit ? limit / (limit - waiting) : 1e9;
}
double Few(double limit) { return InflationOf(limit, FewWaiting(limit)); }
double Many(double limit) { return InflationOf(limit, ManyWaiting(limit)); }

double MeanSeconds(const MethodSamples& samples) {
  return absl::ToDoubleSeconds(samples.time) / static_cast<double>(samples.calls);
}

// The variance of the times, as a share of the square of their mean.
double Spread(const MethodSamples& samples) {
  const double mean = MeanSeconds(samples);
  if (mean <= 0) return 0;
  return std::max(0.0, samples.squares / static_cast<double>(samples.calls) / (mean * mean) - 1);
}

}  // namespace

AdaptiveLimit::AdaptiveLimit(const AdaptiveLimitPolicy& policy)
    : policy_(policy), limit_(policy.initial), judged_limit_(limit_) {}

LimitStep AdaptiveLimit::Begin() {
  return {.limit = static_cast<int>(std::lround(limit_)), .measure = kFirstLook};
}

std::optional<LimitStep> AdaptiveLimit::Next(const LimitWindow& window) {
  judged_limit_ = limit_;
  if (!begun_) return EndFirst(window);
  const bool done = window.length >= kLongest;
  if (CallsOf(window.samples) < kLeastCalls) {
    if (window.full && window.length >= kFirst && window.unknown >= kUnknown * limit_) {
      lowered_.reset();
      limit_ *= 2;
      Clamp();
      return Step();
    }
  }
  const bool used = window.full || window.in_flight >= kRoomy * limit_;
  if (used && InVain(window)) return done ? std::optional(Restart(window)) : std::nullopt;
  if (CallsOf(window.samples) < kLeastCalls) {
    if (!done) return std::nullopt;
    if (lowered_.has_value()) limit_ = std::exchange(lowered_, std::nullopt)->from;
    return Step();
  }
  const Sight sight = Look(window);
  if (!Decide(sight, window)) return std::nullopt;
  refused_ = sight.refused;
  LearnNew(window);
  if (sight.loaded) {
    loaded_ += absl::ToDoubleSeconds(window.length);
  } else if (window.in_flight <= kRoomy * judged_limit_) {
    // A dependency that was slow is quick again: what it took before says nothing any more.
    Learn(window, sight.inflation < 1 - 3 * sight.error ? 1 : 0);
    loaded_ = 0;
    next_check_ = kTrusted;
  }
  return Step();
}

// Searches from far below. Nothing that is known of the service holds: it may work on many calls
// more than those that have slots, since work goes on when a deadline has ended the call.
LimitStep AdaptiveLimit::Restart(const LimitWindow& window) {
  lowered_.reset();
  const double least = window.answered == 0 ? std::min(limit_, kBlind) : 0;
  limit_ = std::max(limit_ * kRestart, least);
  searches_ = true;
  Clamp();
  return Step();
}

// Until a call has ended nothing is known. The first that do are those that took the shortest, so
// they say only how long windows have to be.
std::optional<LimitStep> AdaptiveLimit::EndFirst(const LimitWindow& window) {
  const int64_t calls = CallsOf(window.samples);
  if (calls < kLeastCalls && window.length < kFirst) return std::nullopt;
  if (calls == 0) {
    if (window.full) limit_ *= 2;
    Clamp();
    return Begin();
  }
  begun_ = true;
  Look(window);
  return Step();
}

// Methods that are new are taken as they are.
AdaptiveLimit::Sight AdaptiveLimit::Look(const LimitWindow& window) {
  double took = 0;
  double unloaded = 0;
  double answered = 0;
  double variance = 0;
  double variance_of_means = 0;
  for (const MethodSamples& samples : window.samples) {
    const auto method = static_cast<size_t>(samples.method);
    if (method >= bases_.size()) bases_.resize(method + 1);
    const Base& base = bases_[method];
    const double mean = MeanSeconds(samples);
    const auto calls = static_cast<double>(samples.calls);
    const double spread = std::max({Spread(samples), base.spread, kLeastSpread});
    took += calls * mean;
    variance += calls * mean * mean * spread;
    const double seconds = base.calls == 0 ? mean : base.seconds;
    unloaded += calls * seconds;
    answered += static_cast<double>(samples.answered) * seconds;
    if (base.calls == 0) continue;
    variance_of_means += calls * calls * base.seconds * base.seconds * spread / base.calls;
  }
  latency_ = took / static_cast<double>(CallsOf(window.samples));
  took = std::max(took, 1e-9);
  unloaded = std::max(unloaded, 1e-9);
  const double of_window = variance / (took * took);
  const double share = std::min(1.0, absl::ToDoubleSeconds(window.length));
  return {.inflation = took / unloaded,
          .answers = answered / absl::ToDoubleSeconds(window.length),
          .error = std::sqrt(of_window + variance_of_means / (unloaded * unloaded)),
          .own_error = std::sqrt(of_window),
          .refused = refused_ + (window.refused - refused_) * share,
          .loaded = window.in_flight >= kLoaded * limit_,
          .done = window.length >= kLongest};
}

// Returns whether the window says enough to decide, and does.
bool AdaptiveLimit::Decide(const Sight& sight, const LimitWindow& window) {
  const auto wants = [&sight](double error) { return sight.own_error > error && !sight.done; };
  const bool pressed = sight.loaded || window.full;
  const bool used = pressed || (searches_ && window.in_flight >= kRoomy * limit_);
  if (lowered_.has_value()) {
    if (wants((1 - std::sqrt(limit_ / lowered_->from)) / 2)) return false;
    JudgeLowered(*std::exchange(lowered_, std::nullopt), sight, window);
  } else if (used && sight.inflation > Most(sight)) {
    const bool sure = sight.inflation * (1 - 3 * sight.error) > Most(sight);
    if (!sure && wants(kSure)) return false;
    Lower(sight);
  } else if (pressed && searches_ && sight.inflation < Few(limit_) * (1 + sight.error)) {
    if (wants(kSureToSearch)) return false;
    Learn(window, 0);
    Grow();
  } else if (sight.loaded && sight.refused >= kOverload && loaded_ >= next_check_) {
    if (wants(kSure)) return false;
    Check(sight);
  } else if (sight.inflation < Few(limit_)) {
    // While the service itself has room the limit does not rise above where it last fell to.
    if (sight.loaded || (window.full && limit_ < reached_)) Grow();
  } else if (sight.inflation > Few(limit_) * (1 + 2 * sight.error)) {
    searches_ = false;
  }
  return true;
}

// The inflation above which the limit falls.
double AdaptiveLimit::Most(const Sight& sight) const {
  const double many = Many(limit_);
  return sight.refused >= kOverload ? many : std::max(many, kCalm);
}

// Moves the mean towards what the calls took, by `least` of the way at least.
void AdaptiveLimit::Base::Learn(const MethodSamples& samples, double least) {
  const auto more = static_cast<double>(samples.calls);
  const double share = more / (calls + more);
  seconds += (MeanSeconds(samples) - seconds) * std::max(least, share);
  spread += (Spread(samples) - spread) * share;
  calls = std::min(calls + more, kMemory);
}

void AdaptiveLimit::Learn(const LimitWindow& window, double least) {
  for (const MethodSamples& samples : window.samples) {
    bases_[static_cast<size_t>(samples.method)].Learn(samples, least);
  }
}

void AdaptiveLimit::LearnNew(const LimitWindow& window) {
  for (const MethodSamples& samples : window.samples) {
    Base& base = bases_[static_cast<size_t>(samples.method)];
    if (base.calls == 0) base.Learn(samples, 1);
  }
}

void AdaptiveLimit::JudgeLowered(const Lowered& lowered, const Sight& sight,
                                 const LimitWindow& window) {
  const double share = limit_ / lowered.from;
  if (lowered.check) {
    next_check_ = (1 - share) * absl::ToDoubleSeconds(window.length) / kCheckCost;
  }
  // Calls that waited inside take less time now, in proportion. If they did not wait, fewer of them
  // are answered. If neither is so, the window may show calls that began under the limit before.
  const bool as_long = sight.inflation >= lowered.inflation * std::sqrt(share);
  const bool fewer = sight.answers < lowered.answers * std::sqrt(share);
  if (as_long && !fewer && sight.refused >= kOverload && !lowered.again) {
    lowered_ = lowered;
    lowered_->again = true;
  } else if (as_long) {
    Learn(window, 1);
    limit_ = lowered.from;
    searches_ = !lowered.check && lowered.inflation > kDeep;
    // The calls may have come to wait only while the limit was being lowered.
    if (!lowered.check) next_check_ = 0;
  } else if (sight.inflation < 1 - sight.error) {
    Learn(window, 1);
    next_check_ = 0;  // the mean may still be too high
  } else if (lowered.check) {
    limit_ = lowered.from;
  }
}

void AdaptiveLimit::Grow() {
  limit_ += searches_ ? limit_ : std::max(1.0, limit_ / 8);
  Clamp();
}

void AdaptiveLimit::Lower(const Sight& sight) {
  searches_ = false;
  const double from = limit_;
  const double busy = limit_ / sight.inflation;
  const double wait = (FewWaiting(limit_) + ManyWaiting(limit_)) / 2;
  const double right = sight.refused >= kOverload ? busy + wait : kCalm * busy;
  limit_ = std::clamp(right, from / 2, kTelling * from);
  Clamp();
  reached_ = limit_;
  if (limit_ == from) return;
  lowered_ = {.from = from, .inflation = sight.inflation, .answers = sight.answers, .check = false};
}

// Lowers the limit for one window.
void AdaptiveLimit::Check(const Sight& sight) {
  const double low = std::max<double>(std::floor(kChecked * limit_), policy_.min);
  if (low >= limit_) return;
  lowered_ = {
      .from = limit_, .inflation = sight.inflation, .answers = sight.answers, .check = true};
  limit_ = low;
  loaded_ = 0;
}

void AdaptiveLimit::Clamp() { limit_ = std::clamp<double>(limit_, policy_.min, policy_.max); }

LimitStep AdaptiveLimit::Step() const {
  const absl::Duration latency = absl::Seconds(latency_);
  return {.limit = static_cast<int>(std::lround(limit_)),
          .settle = limit_ == judged_limit_ ? absl::ZeroDuration() : 1.25 * latency,
          .measure = std::max(absl::Milliseconds(100), latency)};
}

}  // namespace levee
