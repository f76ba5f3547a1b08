#include "policy/endpoint_load.h"

#include <algorithm>
#include <cmath>

namespace levee {
namespace {

constexpr double kLeastShare = 0.1;

double Nanos(absl::Duration span) {
  return static_cast<double>(std::max<int64_t>(absl::ToInt64Nanoseconds(span), 1));
}

// What an estimate keeps of its weight after `span`.
double Kept(absl::Duration span) { return std::exp(-Nanos(span) / Nanos(EndpointLoad::kDecay)); }

}  // namespace

double EndpointLoad::Estimate(Instant now) const { return estimate_ * Kept(now - updated_); }

void EndpointLoad::RecordAnswer(absl::Duration latency, Instant now) {
  const double sample = Nanos(latency);
  const double kept = known() ? Kept(now - updated_) : 0;
  estimate_ = std::max(sample, estimate_ * kept + sample * (1 - kept));
  updated_ = now;
}

void EndpointLoad::RecordGivenUp(absl::Duration waited, Instant now) {
  if (Nanos(waited) > Estimate(now)) RecordAnswer(waited, now);
}

double EndpointLoad::Cost(int active, Instant now) const {
  return Estimate(now) * static_cast<double>(active + 1);
}

void EndpointLoad::Restart(Instant now) {
  estimate_ = 0;
  slow_until_ = now + kSlowStart;
}

double EndpointLoad::Share(Instant now) const {
  if (now >= slow_until_) return 1;
  return std::max(kLeastShare, 1 - Nanos(slow_until_ - now) / Nanos(kSlowStart));
}

}  // namespace levee
