// SPDX-License-Identifier: Apache-2.0
#include "lab/delay_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/random.h"
#include "lab/delay_distribution.h"
#include "lab/delay_sum.h"

namespace levee {
namespace {

constexpr int kDraws = 100'000;
constexpr uint64_t kSeed = 1;

bool DependsOnPrevious(const BackoffPolicy& policy) {
  return policy.kind == BackoffPolicy::Kind::kExponential && policy.jitter == Jitter::kDecorrelated;
}

void Name(const BackoffPolicy& policy, int n, DelayRow& row) {
  row.n = n;
  switch (policy.kind) {
    case BackoffPolicy::Kind::kSchedule:
      row.nominal = LawOfDelay(policy, n, absl::ZeroDuration()).least;
      return;
    case BackoffPolicy::Kind::kSlot:
      row.mean_slots = (std::exp2(std::min(n, policy.truncate)) - 1) / 2;
      row.nominal = policy.slot * *row.mean_slots;
      return;
    case BackoffPolicy::Kind::kExponential:
      if (!DependsOnPrevious(policy)) row.nominal = NominalDelay(policy, n);
      return;
  }
}

// The first instant that is too late for a retry: max_elapsed itself is not.
absl::Duration TooLate(const BackoffPolicy& policy) {
  return policy.max_elapsed + absl::Nanoseconds(1);
}

// Fills a row with what a delay and the sum up to it are like.
template <typename Delay, typename Sum>
void Measure(const BackoffPolicy& policy, const Delay& delay, const Sum& sum,
             absl::Duration deadline, DelayRow& row) {
  row.mean = delay.Mean();
  row.p50 = delay.Quantile(0.5);
  row.p99 = delay.Quantile(0.99);
  row.total_p99 = sum.Quantile(0.99);
  row.past_deadline = sum.ShareFrom(deadline);
  row.past_elapsed = sum.ShareFrom(TooLate(policy));
}

std::vector<DelayRow> Compute(const BackoffPolicy& policy, int retries, absl::Duration deadline) {
  DelaySum sum;
  std::vector<DelayRow> rows;
  absl::Duration total_max;
  for (int n = 1; n <= retries; ++n) {
    const DelayDistribution delay(LawOfDelay(policy, n, absl::ZeroDuration()));
    sum.Add(delay);
    total_max += delay.Max();
    DelayRow& row = rows.emplace_back();
    Name(policy, n, row);
    row.min = delay.Min();
    row.max = delay.Max();
    row.total_max = total_max;
    Measure(policy, delay, sum, deadline, row);
  }
  return rows;
}

// Draws of one quantity, in order.
class Draws {
 public:
  explicit Draws(std::vector<absl::Duration> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
  }

  absl::Duration Quantile(double p) const {
    const double rank = std::ceil(p * static_cast<double>(values_.size()));
    return values_[static_cast<size_t>(rank) - 1];
  }
  absl::Duration Mean() const {
    const auto sum = std::accumulate(values_.begin(), values_.end(), absl::Duration());
    return sum / static_cast<int64_t>(values_.size());
  }
  double ShareFrom(absl::Duration bound) const {
    const auto from = std::lower_bound(values_.begin(), values_.end(), bound);
    return static_cast<double>(values_.end() - from) / static_cast<double>(values_.size());
  }

 private:
  std::vector<absl::Duration> values_;
};

std::vector<DelayRow> Draw(const BackoffPolicy& policy, int retries, absl::Duration deadline) {
  Random random(kSeed);
  std::vector<Backoff> backoffs(kDraws);
  std::vector<absl::Duration> totals(kDraws);
  std::vector<DelayRow> rows;
  absl::Duration greatest;
  absl::Duration total_max;
  for (int n = 1; n <= retries; ++n) {
    std::vector<absl::Duration> drawn(kDraws);
    for (size_t i = 0; i < drawn.size(); ++i) {
      drawn[i] = backoffs[i].Next(policy, random);
      totals[i] += drawn[i];
    }
    const Draws delays(std::move(drawn));
    const Draws sums(totals);
    // Bounds are known: the law of a delay after the greatest one.
    greatest = DelayDistribution(LawOfDelay(policy, n, greatest)).Max();
    total_max += greatest;
    DelayRow& row = rows.emplace_back();
    Name(policy, n, row);
    row.min = std::min(policy.initial, policy.max);
    row.max = greatest;
    row.total_max = total_max;
    Measure(policy, delays, sums, deadline, row);
  }
  return rows;
}

}  // namespace

DelayTable TabulateDelays(const BackoffPolicy& policy, int retries, absl::Duration deadline) {
  if (DependsOnPrevious(policy)) return {Draw(policy, retries, deadline), kDraws};
  return {Compute(policy, retries, deadline), 0};
}

}  // namespace levee
