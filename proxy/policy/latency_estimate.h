// SPDX-License-Identifier: Apache-2.0
// How long recent attempts took until their answer, as quantiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// A histogram with logarithmic buckets over the last one to two windows of 30 s, so that old
// attempts leave. Quantiles are at most an eighth too high and never too low, between 1 us and 4
// hours. One thread; about 2 KiB.
class LatencyEstimate {
 public:
  // An attempt was answered after `latency`. `now` never goes backward, here or below.
  void Record(absl::Duration latency, Instant now);

  // Returns the latency that a share `q` (above 0, below 1) of recent attempts did not exceed.
  // Returns nullopt while too few attempts are known: fewer than 8, or so few that none would lie
  // above. Cheap enough to be asked for every attempt: an answer is kept until 64 more attempts are
  // known or a window has passed.
  std::optional<absl::Duration> Quantile(double q, Instant now);

 private:
  // 8 buckets in each octave from 2^10 ns (1 us) to 2^44 ns (4.9 hours).
  static constexpr int kFirstOctave = 10;
  static constexpr int kOctaves = 34;
  static constexpr int kSubBits = 3;
  static constexpr size_t kBuckets = size_t{kOctaves} << kSubBits;

  struct Window {
    std::array<uint32_t, kBuckets> counts{};
    int64_t total = 0;
  };

  // An answer that Quantile gave.
  struct Answer {
    double q = 0;          // 0: none
    int64_t recorded = 0;  // value of recorded_ at the time
    absl::Duration latency;
  };

  static size_t BucketOf(absl::Duration latency);
  static absl::Duration UpperEdge(size_t bucket);
  // Forgets the windows that have passed at `now`.
  void Rotate(Instant now);
  absl::Duration Compute(double q) const;

  Window current_;
  Window previous_;
  Instant current_end_;  // when current_ becomes previous_
  int64_t recorded_ = 0;
  // Few policies share an estimate, and fewer ask for different quantiles.
  std::array<Answer, 4> answers_;
  size_t next_answer_ = 0;  // the answer that the next new quantile replaces
};

}  // namespace levee
