// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_credit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

constexpr int kCreditSeeds = 1000;

void Calls(RetryCredit& credit, int n, Instant now) {
  for (int i = 0; i < n; ++i) credit.OnCall(0, now);
}

void Successes(RetryCredit& credit, int n, bool retry, Instant now) {
  for (int i = 0; i < n; ++i) credit.OnSuccess(retry, now);
}

int TakeAll(RetryCredit& credit, Instant now) {
  int taken = 0;
  while (credit.Take(now)) ++taken;
  return taken;
}

TEST(RetryCredit, StartsWithTheLeast) {
  RetryCredit credit({.least = 3}, 1);
  EXPECT_EQ(TakeAll(credit, At(0)), 3);
}

TEST(RetryCredit, IsTheRatioOfTheCallsOfTheLastSpan) {
  RetryCredit credit({}, 1);
  Calls(credit, 600, At(1));
  EXPECT_DOUBLE_EQ(credit.Available(At(2)), 60);
  EXPECT_EQ(TakeAll(credit, At(2)), 60);
  EXPECT_FALSE(credit.Take(At(2)));
}

TEST(RetryCredit, CallsThatAreOlderThanTheSpanGiveNone) {
  RetryCredit credit({}, 1);
  Calls(credit, 600, At(1));
  EXPECT_DOUBLE_EQ(credit.Available(At(2.099)), 60);
  EXPECT_DOUBLE_EQ(credit.Available(At(2.1)), 2);
}

TEST(RetryCredit, RetriesThatWorkAreFree) {
  RetryCredit credit({}, 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(credit.Take(At(i)));
    credit.OnSuccess(/*retry=*/true, At(i));
  }
  EXPECT_DOUBLE_EQ(credit.Available(At(1000)), 2);
}

TEST(RetryCredit, FailedRetriesArePaidForByTheRatioOfTheOtherSuccesses) {
  RetryCredit credit({}, 1);
  ASSERT_EQ(TakeAll(credit, At(0)), 2);
  Successes(credit, 9, /*retry=*/false, At(0));
  EXPECT_FALSE(credit.Take(At(0)));
  Successes(credit, 1, /*retry=*/false, At(0));
  EXPECT_TRUE(credit.Take(At(0)));
  EXPECT_FALSE(credit.Take(At(0)));
}

TEST(RetryCredit, SuccessesDoNotSaveMoreThanTheLeastOrTheRatio) {
  RetryCredit credit({}, 1);
  Successes(credit, 100'000, /*retry=*/false, At(0));
  Successes(credit, 100'000, /*retry=*/true, At(0));
  EXPECT_EQ(TakeAll(credit, At(0)), 2);
}

TEST(RetryCredit, TimeAloneEarnsOneCreditInTenMinutes) {
  RetryCredit credit({}, 1);
  ASSERT_EQ(TakeAll(credit, At(1000)), 2);
  EXPECT_FALSE(credit.Take(At(1599)));
  EXPECT_EQ(TakeAll(credit, At(1601)), 1);
  EXPECT_NEAR(credit.Available(At(1900)), 0.5, 0.01);
  EXPECT_EQ(TakeAll(credit, At(1e6)), 2);
}

// 600 calls a second fail; then there are 60 a second, all good.
TEST(RetryCredit, TheDebtOfAHighLoadIsForgottenInAFewSpansOfALowerOne) {
  RetryCredit credit({}, 1);
  Calls(credit, 600, At(0));
  ASSERT_EQ(TakeAll(credit, At(0)), 60);
  int second = 10;
  while (credit.Available(At(second)) < 1 && second < 100) {
    ++second;
    Calls(credit, 60, At(second));
    Successes(credit, 60, /*retry=*/false, At(second));
  }
  EXPECT_LE(second, 14);
}

TEST(RetryCredit, ACreditThatIsGivenBackCanBeTakenAgain) {
  RetryCredit credit({.least = 1}, 1);
  ASSERT_TRUE(credit.Take(At(0)));
  credit.GiveBack();
  EXPECT_TRUE(credit.Take(At(0)));
  EXPECT_FALSE(credit.Take(At(0)));
}

TEST(RetryCredit, ADearRetryNeedsTwoCreditsAndIsPaidForByAsManySuccessesAsItsPriceTakes) {
  RetryCredit credit({}, 1);
  Calls(credit, 100, At(0));
  ASSERT_TRUE(credit.Take(At(0), 10));
  EXPECT_FALSE(credit.Take(At(0), 10));
  Successes(credit, 19, /*retry=*/false, At(0));
  EXPECT_FALSE(credit.Take(At(0), 10));
  Successes(credit, 1, /*retry=*/false, At(0));
  EXPECT_TRUE(credit.Take(At(0), 10));
}

TEST(RetryCredit, DearRetriesThatWorkAreFree) {
  RetryCredit credit({}, 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(credit.Take(At(i), 10));
    credit.OnSuccess(/*retry=*/true, At(i), 10);
  }
  ASSERT_TRUE(credit.Take(At(1000), 10));
  credit.GiveBack(10);
  EXPECT_DOUBLE_EQ(credit.Available(At(1000)), 2);
}

TEST(RetryCredit, WithoutARatioTheFloorOfTheBudgetAloneDecides) {
  RetryCredit credit({.ratio = 0}, 1);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(credit.Take(At(0)));
}

TEST(RetryCredit, HugeNumbersDoNotOverflow) {
  RetryCredit credit({.ratio = 1e6, .least = 1e6}, 1);
  Calls(credit, 100'000, At(0));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(credit.Take(At(0)));
  Successes(credit, 1, /*retry=*/false, At(0));
  EXPECT_GT(credit.Available(At(0)), 1e9);
}

// The rule of the header, counted from a list of all calls, in billionths of a credit.
class ListedCredit {
 public:
  explicit ListedCredit(const RetryCreditPolicy& policy) : policy_(policy) {}

  void OnCall(Instant now) { calls_.push_back(SlotOf(now)); }
  bool Take(Instant now, int price) {
    const int64_t forgiven = (now - forgiven_at_) / absl::Nanoseconds(600);
    forgiven_at_ = now;
    debt_ = std::max<int64_t>(0, debt_ - forgiven);
    const int64_t needed = price > 1 ? std::clamp(Cap(now), kOne, 2 * kOne) : kOne;
    if (debt_ + needed > Cap(now)) return false;
    debt_ += price * kOne;
    return true;
  }
  void OnSuccess(bool retry, Instant now, int price) {
    const int64_t share = std::max<int64_t>(0, debt_ - Cap(now)) / std::max<int64_t>(1, Calls(now));
    const int64_t earned = retry ? price * kOne : std::llround(policy_.ratio * 1e9);
    debt_ = std::max<int64_t>(0, debt_ - share - earned);
  }

 private:
  static constexpr int64_t kOne = 1'000'000'000;

  int64_t Calls(Instant now) const {
    return calls_.end() - std::lower_bound(calls_.begin(), calls_.end(), SlotOf(now) - 10);
  }
  int64_t Cap(Instant now) const {
    const double calls = static_cast<double>(Calls(now));
    return std::llround(std::max(policy_.least, policy_.ratio * calls) * 1e9);
  }
  int64_t SlotOf(Instant now) const {
    return now.nanos() / (absl::ToInt64Nanoseconds(policy_.span) / 10);
  }

  const RetryCreditPolicy policy_;
  std::vector<int64_t> calls_;  // their slots, in order
  int64_t debt_ = 0;
  Instant forgiven_at_;
};

// One run against the list; false at the first difference.
bool MatchesTheList(uint64_t seed) {
  Random random(seed);
  const int workers = static_cast<int>(1 + random.Below(4));
  const RetryCreditPolicy policy = {
      .ratio = 0.01 * static_cast<double>(1 + random.Below(200)),
      .least = static_cast<double>(random.Below(6)),
      .span = absl::Milliseconds(static_cast<int64_t>(100 * (1 + random.Below(50))))};
  RetryCredit credit(policy, workers);
  ListedCredit listed(policy);
  const double success = random.Uniform();
  Instant now = At(random.Uniform() * 1000);
  for (int step = 0; step < 500; ++step) {
    if (random.Below(3) == 0) now = now + policy.span * random.Uniform() * random.Uniform();
    if (random.Below(2) == 0) {
      credit.OnCall(static_cast<int>(random.Below(static_cast<uint64_t>(workers))), now);
      listed.OnCall(now);
    }
    const int price = random.Below(4) == 0 ? 10 : 1;
    if (random.Below(2) == 0 && credit.Take(now, price) != listed.Take(now, price)) return false;
    if (random.Uniform() < success) {
      const bool retry = random.Below(3) == 0;
      credit.OnSuccess(retry, now, price);
      listed.OnSuccess(retry, now, price);
    }
  }
  return true;
}

TEST(RetryCreditProperty, DecidesAsTheRuleCountedFromAListOfAllCalls) {
  for (uint64_t seed = 1; seed <= kCreditSeeds; ++seed) ASSERT_TRUE(MatchesTheList(seed)) << seed;
}

TEST(RetryCreditThreads, TheLastCreditIsNeverTakenTwice) {
  RetryCredit credit({.least = 1}, 2);
  std::atomic<int> held{0};
  std::atomic<bool> overdrawn{false};
  const auto race = [&] {
    for (int i = 0; i < 200'000; ++i) {
      if (!credit.Take(At(0))) continue;
      if (held.fetch_add(1) != 0) overdrawn.store(true);
      held.fetch_sub(1);
      credit.OnSuccess(/*retry=*/true, At(0));
    }
  };
  std::thread other(race);
  race();
  other.join();
  EXPECT_FALSE(overdrawn.load());
  EXPECT_DOUBLE_EQ(credit.Available(At(0)), 1);
}

}  // namespace
}  // namespace levee
