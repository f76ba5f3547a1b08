// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_load.h"

#include <algorithm>

#include "policy/decay.h"

namespace levee {
namespace {

constexpr double kLeastShare = 0.1;

// A latency within this factor of the estimate confirms it.
constexpr double kMuch = 2;

// An endpoint that owes an answer for this many times the estimate is overdue.
constexpr double kMuchLonger = 4;

// How much longer the decay becomes each time.
constexpr double kLonger = 4;

// Plain numbers are used because each call asks several times.
double Nanos(int64_t span) { return static_cast<double>(std::max<int64_t>(span, 1)); }
double Nanos(absl::Duration span) { return Nanos(absl::ToInt64Nanoseconds(span)); }

constexpr double kDecayNanos = 10e9;
static_assert(EndpointLoad::kDecay == absl::Seconds(10));

}  // namespace

// Returns the share of its weight that the estimate has kept.
double EndpointLoad::Kept(Instant now) const {
  Instant until = std::min(now, successes_.failing_since());
  if (silence_.owes()) until = std::min(until, silence_.began());
  if (until <= updated_) return 1;
  return LeftAfter(static_cast<double>(until.nanos() - updated_.nanos()) / decay_);
}

bool EndpointLoad::IsLong(int64_t silence_nanos, Instant now) const {
  return static_cast<double>(silence_nanos) > kMuchLonger * Estimate(now);
}

void EndpointLoad::RecordLatency(absl::Duration latency, Instant now) {
  const int64_t nanos = absl::ToInt64Nanoseconds(latency);
  const double sample = Nanos(nanos);
  const double before = estimate_;
  // A latency above the estimate needs no weights.
  if (sample < before) {
    const double kept = Kept(now);
    estimate_ = before * kept + sample * (1 - kept);
  } else {
    estimate_ = sample;
  }
  updated_ = now;
  const bool confirms = sample <= kMuch * before && kMuch * sample >= before;
  if (!confirms) {
    decay_ = static_cast<double>(kLeastDecayNanos);
    learnt_at_ = now;
  } else if (decay_ < kDecayNanos && now.nanos() - learnt_at_.nanos() >= nanos) {
    // Calls that were under way together may have had their bad luck together.
    decay_ = std::min(decay_ * kLonger, kDecayNanos);
    learnt_at_ = now;
  }
}

void EndpointLoad::RecordGivenUp(absl::Duration waited, Instant now) {
  // An overdue endpoint is known by its silence, and keeps the estimate of what is usual.
  if (!Overdue(now) && Nanos(waited) > Estimate(now)) RecordLatency(waited, now);
}

double EndpointLoad::Cost(int active, Instant now) const {
  const double latency =
      Overdue(now) ? static_cast<double>(silence_.Nanos(now)) : std::max(Estimate(now), 1.0);
  return latency * CallsCost(active, now);
}

void EndpointLoad::Restart(Instant now) {
  estimate_ = 0;
  silence_ = EndpointSilence();
  successes_ = SuccessShare();
  slow_until_ = now + kSlowStart;
}

void EndpointLoad::Yield(absl::Duration wait, Instant now) {
  yields_until_ = std::max(yields_until_, now + std::min(wait, kLongestYield));
}

double EndpointLoad::PartShare(Instant now) const {
  if (now < yields_until_) return kLeastShare;
  return std::max(kLeastShare, 1 - Nanos(slow_until_ - now) / Nanos(kSlowStart));
}

}  // namespace levee
