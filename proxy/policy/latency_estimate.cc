// SPDX-License-Identifier: Apache-2.0
#include "policy/latency_estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace levee {
namespace {

constexpr absl::Duration kWindow = absl::Seconds(30);
constexpr int64_t kFewest = 8;

// An answer is kept for this many attempts.
constexpr int64_t kLag = 64;

// Compensates the rounding of products and quotients such as 1 / (1 - 0.9).
constexpr double kRankRounding = 1e-9;

int64_t CeilOf(double x) { return static_cast<int64_t>(std::ceil(x - kRankRounding)); }

}  // namespace

void LatencyEstimate::Record(absl::Duration latency, Instant now) {
  if (now >= current_end_) Rotate(now);
  ++current_.counts[BucketOf(latency)];
  ++current_.total;
  ++recorded_;
}

std::optional<absl::Duration> LatencyEstimate::Quantile(double q, Instant now) {
  if (now >= current_end_) Rotate(now);
  const double total = static_cast<double>(current_.total + previous_.total);
  if (total < kFewest || total * (1 - q) < 1 - kRankRounding) return std::nullopt;
  Answer* answer = std::find_if(answers_.begin(), answers_.end(),
                                [q](const Answer& kept) { return kept.q == q; });
  if (answer == answers_.end()) {
    answer = &answers_[next_answer_];
    next_answer_ = (next_answer_ + 1) % answers_.size();
  } else if (recorded_ - answer->recorded < kLag) {
    return answer->latency;
  }
  *answer = {q, recorded_, Compute(q)};
  return answer->latency;
}

size_t LatencyEstimate::BucketOf(absl::Duration latency) {
  constexpr int64_t kLow = int64_t{1} << kFirstOctave;
  constexpr int64_t kHigh = (int64_t{1} << (kFirstOctave + kOctaves)) - 1;
  const uint64_t nanos =
      static_cast<uint64_t>(std::clamp(absl::ToInt64Nanoseconds(latency), kLow, kHigh));
  const int octave = static_cast<int>(std::bit_width(nanos)) - 1;
  // The top bit gives the octave; the bits after it give the bucket in the octave.
  const uint64_t leading = nanos >> (octave - kSubBits);
  const uint64_t before = static_cast<uint64_t>(octave - kFirstOctave) << kSubBits;
  return before + (leading - (uint64_t{1} << kSubBits));
}

absl::Duration LatencyEstimate::UpperEdge(size_t bucket) {
  constexpr size_t kPerOctave = size_t{1} << kSubBits;
  const size_t octave = kFirstOctave + bucket / kPerOctave;
  const int64_t eighths = static_cast<int64_t>(kPerOctave + bucket % kPerOctave + 1);
  return absl::Nanoseconds(eighths << (octave - kSubBits));
}

void LatencyEstimate::Rotate(Instant now) {
  const bool in_the_next = now < current_end_ + kWindow;
  previous_ = in_the_next ? current_ : Window();
  current_ = Window();
  current_end_ = in_the_next ? current_end_ + kWindow : now + kWindow;
  answers_ = {};
}

absl::Duration LatencyEstimate::Compute(double q) const {
  const int64_t total = current_.total + previous_.total;
  const int64_t rank = std::max<int64_t>(CeilOf(q * static_cast<double>(total)), 1);
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += int64_t{current_.counts[bucket]} + previous_.counts[bucket];
    if (seen >= rank) return UpperEdge(bucket);
  }
  return UpperEdge(kBuckets - 1);
}

}  // namespace levee
