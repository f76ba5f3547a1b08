// SPDX-License-Identifier: Apache-2.0
#include "guard/adaptive_limit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace levee {
namespace {

constexpr int64_t kLeastCalls = 40;  // of a window
// Calls whose mean says enough, however they are spread.
constexpr double kSureCalls = 250;
constexpr absl::Duration kLongest = absl::Seconds(5);
// The calls that a mean remembers.
constexpr double kMemory = 1000;
// A service with at most this share of its slots taken has nobody waiting.
constexpr double kRoomy = 0.5;
// A service with at least this share of its slots taken is under load.
constexpr double kLoaded = 0.85;
// The limit of a check, and the share of the throughput that checks may cost.
constexpr double kChecked = 0.75;
constexpr double kCheckCost = 0.01;
// A step down of less than this tells too little beside the noise.
constexpr double kTelling = 0.85;
// A mean is clearly too high if calls take less than this share of it.
constexpr double kClearlyLess = 0.9;

int64_t Calls(const LimitWindow& window) {
  int64_t calls = 0;
  for (const MethodSamples& samples : window.samples) calls += samples.calls;
  return calls;
}

double InflationOf(double limit, double waiting) {
  return waiting < limit ? limit / (limit - waiting) : 1e9;
}
// The inflation of a service in which few calls wait, and many.
double Few(double limit) { return InflationOf(limit, 0.25 + 0.05 * limit); }
double Many(double limit) { return InflationOf(limit, 1 + 0.15 * limit); }

double MeanSeconds(const MethodSamples& samples) {
  return absl::ToDoubleSeconds(samples.time) / static_cast<double>(samples.calls);
}

}  // namespace

AdaptiveLimit::AdaptiveLimit(const AdaptiveLimitPolicy& policy)
    : policy_(policy), limit_(policy.initial) {}

LimitStep AdaptiveLimit::Begin() {
  LimitStep step = Step();
  step.settle = step.measure;
  return step;
}

std::optional<LimitStep> AdaptiveLimit::Next(const LimitWindow& window) {
  const bool done = window.length >= kLongest;
  if (Calls(window) < kLeastCalls) {
    if (!done) return std::nullopt;
    if (lowered_.has_value()) limit_ = std::exchange(lowered_, std::nullopt)->from;
    return Step();
  }
  const double inflation = Inflation(window);
  if (weight_ < kLeastCalls && !done) return std::nullopt;
  const bool loaded = window.in_flight >= kLoaded * limit_;
  if (lowered_.has_value()) {
    if (weight_ < kSureCalls && !done) return std::nullopt;
    JudgeLowered(*std::exchange(lowered_, std::nullopt), inflation, window);
  } else if (loaded && loaded_ >= next_check_ && weight_ < kSureCalls && !done) {
    return std::nullopt;
  } else if (loaded && Check(inflation)) {
    loaded_ = 0;
  } else if (loaded || window.full) {
    if (!done && !IsSure(inflation)) return std::nullopt;
    Adjust(inflation, loaded || (window.full && limit_ < reached_));
  }
  if (loaded) {
    loaded_ += absl::ToDoubleSeconds(window.length);
  } else if (window.in_flight <= kRoomy * limit_) {
    Learn(window, 0);
  }
  return Step();
}

// Whether it is sure enough that the limit should go down, or need not.
bool AdaptiveLimit::IsSure(double inflation) const {
  // Of a mean, where latencies are spread exponentially.
  const double deviation = inflation / std::sqrt(weight_);
  const double many = Many(limit_);
  return weight_ >= kSureCalls || inflation <= many || inflation - 3 * deviation > many;
}

// Returns how many times as long the window's calls took as they would have unloaded. Methods that
// are new are taken as they are.
double AdaptiveLimit::Inflation(const LimitWindow& window) {
  double took = 0;
  double unloaded = 0;
  double squares = 0;
  for (const MethodSamples& samples : window.samples) {
    const auto method = static_cast<size_t>(samples.method);
    if (method >= bases_.size()) bases_.resize(method + 1);
    Base& base = bases_[method];
    const double mean = MeanSeconds(samples);
    const auto calls = static_cast<double>(samples.calls);
    if (base.calls == 0) base = {.seconds = mean, .calls = std::min(calls, kMemory)};
    took += calls * mean;
    squares += calls * mean * mean;
    unloaded += calls * base.seconds;
  }
  latency_ = squares / took;
  weight_ = took * took / squares;
  return took / unloaded;
}

// Moves the means towards what the window's calls took, by `least` of the way at least.
void AdaptiveLimit::Learn(const LimitWindow& window, double least) {
  for (const MethodSamples& samples : window.samples) {
    Base& base = bases_[static_cast<size_t>(samples.method)];
    const auto calls = static_cast<double>(samples.calls);
    const double weight = std::max(least, calls / (base.calls + calls));
    base.seconds += (MeanSeconds(samples) - base.seconds) * weight;
    base.calls = std::min(base.calls + calls, kMemory);
  }
}

void AdaptiveLimit::JudgeLowered(const Lowered& lowered, double inflation,
                                 const LimitWindow& window) {
  next_check_ = (1 - limit_ / lowered.from) * absl::ToDoubleSeconds(window.length) / kCheckCost;
  // Calls that waited inside take less time now, in proportion.
  const bool waited = inflation < lowered.inflation * std::sqrt(limit_ / lowered.from);
  if (!waited) {
    Learn(window, 1);
    limit_ = lowered.from;
    rising_ = true;
  } else if (inflation < kClearlyLess) {
    Learn(window, 0.8);
    next_check_ = 0;  // the mean may still be too high
  } else if (lowered.check) {
    limit_ = lowered.from;
  }
}

void AdaptiveLimit::Adjust(double inflation, bool may_grow) {
  const double few = 0.25 + 0.05 * limit_;
  const double many = 1 + 0.15 * limit_;
  if (inflation < Few(limit_)) {
    if (may_grow) limit_ += rising_ ? limit_ : std::max(1.0, limit_ / 8);
    return Clamp();
  }
  rising_ = false;
  if (inflation > Many(limit_)) {
    const double from = limit_;
    limit_ = std::max(limit_ / inflation + (few + many) / 2, limit_ / 2);
    limit_ = std::max<double>(limit_, policy_.min);
    reached_ = limit_;
    if (limit_ <= kTelling * from) {
      lowered_ = {.from = from, .inflation = inflation, .check = false};
    }
  }
  Clamp();
}

void AdaptiveLimit::Clamp() { limit_ = std::clamp<double>(limit_, policy_.min, policy_.max); }

// Lowers the limit for a check of the means, if it is time. Returns whether it did.
bool AdaptiveLimit::Check(double inflation) {
  const double low = std::max<double>(std::floor(kChecked * limit_), policy_.min);
  if (low >= limit_) return false;
  if (loaded_ < next_check_) return false;
  lowered_ = {.from = limit_, .inflation = inflation, .check = true};
  limit_ = low;
  return true;
}

LimitStep AdaptiveLimit::Step() const {
  const absl::Duration latency = absl::Seconds(latency_);
  return {.limit = static_cast<int>(std::lround(limit_)),
          .settle = 1.5 * latency,
          .measure = std::max(absl::Milliseconds(100), 2 * latency)};
}

}  // namespace levee
