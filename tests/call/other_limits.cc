// SPDX-License-Identifier: Apache-2.0
#include "call/other_limits.h"

#include <cmath>

namespace levee {
namespace {

constexpr absl::Duration kWindow = absl::Milliseconds(100);
constexpr int64_t kLeastCalls = 10;

struct Taken {
  int64_t calls = 0;
  double mean = 0;  // seconds
};

Taken TakenIn(const LimitWindow& window) {
  Taken taken;
  absl::Duration time;
  for (const MethodSamples& samples : window.samples) {
    taken.calls += samples.calls;
    time += samples.time;
  }
  if (taken.calls > 0) taken.mean = absl::ToDoubleSeconds(time) / static_cast<double>(taken.calls);
  return taken;
}

}  // namespace

std::optional<LimitStep> WindowedLimit::Next(const LimitWindow& window) {
  const Taken taken = TakenIn(window);
  if (taken.calls < kLeastCalls) return std::nullopt;
  Update(window, taken.mean);
  limit_ = std::clamp<double>(limit_, policy_.min, policy_.max);
  return Step();
}

LimitStep WindowedLimit::Step() const {
  return {.limit = static_cast<int>(std::lround(limit_)), .measure = kWindow};
}

void AimdLimit::Update(const LimitWindow& window, double seconds) {
  constexpr double kTolerance = 1.5;
  lowest_ = std::min(lowest_, seconds);
  if (seconds > kTolerance * lowest_) {
    limit_ *= 0.9;
  } else if (!IsIdle(window)) {
    ++limit_;
  }
}

void VegasLimit::Update(const LimitWindow& window, double seconds) {
  if (++windows_ >= 30 * limit_) {
    lowest_ = seconds;
    windows_ = 0;
  }
  lowest_ = std::min(lowest_, seconds);
  if (IsIdle(window)) return;
  const double unit = std::max(1.0, std::log10(limit_));
  const double queue = limit_ * (1 - lowest_ / seconds);
  if (queue <= unit) {
    limit_ += 6 * unit;
  } else if (queue < 3 * unit) {
    limit_ += unit;
  } else if (queue > 6 * unit) {
    limit_ -= unit;
  }
}

void Gradient2Limit::Update(const LimitWindow& window, double seconds) {
  constexpr double kTolerance = 1.5;
  constexpr double kAveraged = 600;
  constexpr double kWarmup = 10;
  constexpr double kSmoothing = 0.2;
  windows_ = std::min(windows_ + 1, kAveraged);
  const double weight = windows_ <= kWarmup ? 1 / windows_ : 2 / (kAveraged + 1);
  average_ += (seconds - average_) * weight;
  // After a long overload the average comes down faster.
  if (average_ > 2 * seconds) average_ *= 0.95;
  if (IsIdle(window)) return;
  const double gradient = std::clamp(kTolerance * average_ / seconds, 0.5, 1.0);
  const double wanted = limit_ * gradient + std::sqrt(limit_);
  limit_ += (wanted - limit_) * kSmoothing;
}

LimitStep EnvoyLimit::Begin() { return Step(); }

LimitStep EnvoyLimit::Step() const {
  constexpr int kProbed = 3;
  if (!probing_) return WindowedLimit::Step();
  return {.limit = std::min(kProbed, static_cast<int>(limit_)),
          .settle = absl::Seconds(taken_),
          .measure = kWindow};
}

std::optional<LimitStep> EnvoyLimit::Next(const LimitWindow& window) {
  constexpr int64_t kProbeCalls = 50;
  constexpr double kProbeEvery = 60;
  constexpr int kStuck = 5;
  since_ += absl::ToDoubleSeconds(window.length);
  if (probing_) {
    const Taken taken = TakenIn(window);
    if (taken.calls < kProbeCalls) return std::nullopt;
    unloaded_ = taken.mean;
    probing_ = false;
    since_ = 0;
    at_the_least_ = 0;
    return Step();
  }
  const std::optional<LimitStep> step = WindowedLimit::Next(window);
  if (!step.has_value()) return step;
  probing_ = since_ >= kProbeEvery || at_the_least_ >= kStuck;
  return Step();
}

void EnvoyLimit::Update(const LimitWindow&, double seconds) {
  constexpr double kBuffer = 0.25;
  constexpr double kLeast = 3;
  taken_ = seconds;
  const double gradient = std::clamp((1 + kBuffer) * unloaded_ / seconds, 0.5, 2.0);
  limit_ = limit_ * gradient;
  limit_ = std::max(limit_ + std::sqrt(limit_), kLeast);
  at_the_least_ = limit_ <= kLeast ? at_the_least_ + 1 : 0;
}

}  // namespace levee
