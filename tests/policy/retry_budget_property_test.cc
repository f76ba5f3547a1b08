// SPDX-License-Identifier: Apache-2.0
// A51: the budget against random policies and workloads. Each case is named by its seed.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/retry_budget.h"

namespace levee {
namespace {

constexpr int kBudgetCases = 200;
constexpr int kBudgetSteps = 3000;

struct BudgetCase {
  RetryBudgetPolicy budget;
  int workers = 1;
};

BudgetCase RandomBudget(Random& random) {
  BudgetCase policy;
  policy.budget.ratio = random.Below(4) == 0 ? 0 : random.Uniform() * 2;
  policy.budget.window = absl::Milliseconds(static_cast<int64_t>(100 + random.Below(20'000)));
  policy.budget.floor_per_second = random.Below(4) == 0 ? 0 : random.Uniform() * 20;
  policy.budget.floor_min_success = random.Uniform();
  policy.budget.burst_least = random.Uniform() * 50;
  policy.workers = static_cast<int>(1 + random.Below(4));
  return policy;
}

// Mostly small steps, sometimes a pause of up to two windows.
absl::Duration RandomStep(absl::Duration window, Random& random) {
  switch (random.Below(20)) {
    case 0:
      return window * (2 * random.Uniform());
    case 1:
    case 2:
    case 3:
      return window * (0.2 * random.Uniform());
    case 4:
    case 5:
    case 6:
    case 7:
      return window * (0.01 * random.Uniform());
    default:
      return absl::ZeroDuration();
  }
}

// The rule of the header, counted from a list of everything that happened.
class ListedBudget {
 public:
  explicit ListedBudget(const RetryBudgetPolicy& policy)
      : policy_(policy), slot_(absl::Ceil(policy.window / 10, absl::Nanoseconds(1))) {}

  void Deposit(Instant now) { calls_.push_back(SlotAt(now)); }

  bool Withdraw(Instant now, bool floor_withheld) {
    const int64_t oldest = SlotAt(now) - 10;
    const double floor = policy_.floor_per_second * absl::ToDoubleSeconds(policy_.window);
    const double limit =
        std::max(policy_.ratio * Count(calls_, oldest), floor_withheld ? 0 : floor);
    if (Count(retries_, oldest) + 1 > limit + 1e-9) return false;
    retries_.push_back(SlotAt(now));
    return true;
  }

  double retries() const { return static_cast<double>(retries_.size()); }
  double calls() const { return static_cast<double>(calls_.size()); }

 private:
  int64_t SlotAt(Instant now) const {
    return now.nanos() / std::max<int64_t>(absl::ToInt64Nanoseconds(slot_), 1'000'000);
  }
  static double Count(const std::vector<int64_t>& slots, int64_t oldest) {
    return static_cast<double>(slots.end() - std::lower_bound(slots.begin(), slots.end(), oldest));
  }

  const RetryBudgetPolicy policy_;
  const absl::Duration slot_;
  std::vector<int64_t> calls_;  // in order, since time does not go backward
  std::vector<int64_t> retries_;
};

void RecordRandomEnds(RetryBudget& budget, double success_rate, Instant now, Random& random) {
  for (uint64_t i = random.Below(4); i > 0; --i) {
    budget.RecordEnd(
        {.success = random.Uniform() < success_rate, .price = static_cast<int>(random.Below(2))},
        now);
  }
}

// One run against the list; false at the first difference.
bool MatchesTheBudgetList(uint64_t seed) {
  Random random(seed);
  BudgetCase policy = RandomBudget(random);
  policy.budget.burst_least = 1e6;  // So much credit that the window alone decides.
  RetryBudget budget(policy.budget, policy.workers);
  ListedBudget listed(policy.budget);
  const double success_rate = random.Uniform();
  Instant now = Instant() + absl::Seconds(random.Uniform() * 1000);
  for (int step = 0; step < kBudgetSteps; ++step) {
    now = now + RandomStep(policy.budget.window, random);
    const int worker = static_cast<int>(random.Below(static_cast<uint64_t>(policy.workers)));
    RecordRandomEnds(budget, success_rate, now, random);
    if (random.Below(2) == 0) {
      budget.Deposit(worker, now);
      listed.Deposit(now);
    } else if (budget.Withdraw(worker, now) !=
               listed.Withdraw(now, budget.Read(now).floor_withheld)) {
      return false;
    }
  }
  return true;
}

TEST(RetryBudgetProperty, DecidesAsTheRuleCountedFromAListOfAllEvents) {
  for (uint64_t seed = 1; seed <= kBudgetCases; ++seed) {
    ASSERT_TRUE(MatchesTheBudgetList(seed)) << "seed " << seed;
  }
}

struct Totals {
  double calls = 0;
  double retries = 0;
  Instant first = Instant::Infinite();
  Instant last;

  double Bound(const RetryBudgetPolicy& policy) const {
    const double windows =
        std::max(1.0, std::ceil(absl::FDivDuration(last - first, policy.window)));
    const double floor = policy.floor_per_second * absl::ToDoubleSeconds(policy.window);
    return calls * (1 + policy.ratio) + floor * windows + 1e-6;
  }
};

// Workers whose clocks differ: each stands still for a while and then catches up.
void ExpectBoundWithSkewedWorkers(uint64_t seed) {
  Random random(seed);
  const BudgetCase policy = RandomBudget(random);
  RetryBudget budget(policy.budget, policy.workers);
  std::vector<Instant> clocks(static_cast<size_t>(policy.workers));
  const double success_rate = random.Uniform();
  Instant now = Instant() + absl::Seconds(1);
  Totals totals;
  for (int step = 0; step < kBudgetSteps; ++step) {
    now = now + RandomStep(policy.budget.window, random);
    const size_t worker = random.Below(clocks.size());
    if (random.Below(3) != 0 || clocks[worker] == Instant()) clocks[worker] = now;
    totals.first = std::min(totals.first, clocks[worker]);
    totals.last = std::max(totals.last, clocks[worker]);
    RecordRandomEnds(budget, success_rate, now, random);
    if (random.Below(3) == 0) {
      budget.Deposit(static_cast<int>(worker), clocks[worker]);
      ++totals.calls;
    } else if (budget.Withdraw(static_cast<int>(worker), clocks[worker])) {
      ++totals.retries;
    }
    ASSERT_LE(totals.calls + totals.retries, totals.Bound(policy.budget))
        << "seed " << seed << ", step " << step;
  }
}

TEST(RetryBudgetProperty, A51_AttemptsStayUnderTheBoundOverAnyRun) {
  for (uint64_t seed = 1; seed <= kBudgetCases; ++seed) {
    ExpectBoundWithSkewedWorkers(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace levee
