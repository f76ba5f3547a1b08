// A48 with real threads: the bound holds without locks.
#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "policy/retry_budget.h"

namespace levee {
namespace {

// Runs `body(worker)` on two threads.
template <typename Body>
void OnTwoThreads(const Body& body) {
  std::thread other([&] { body(1); });
  body(0);
  other.join();
}

// Both threads want the one retry of the current window all the time; who gets it opens the next
// window. So they collide in every round, and one that was left behind comes with an old time.
TEST(RetryBudgetThreads, A48_TheLastRetryIsNeverTakenTwice) {
  constexpr int kRounds = 300'000;
  RetryBudget budget({.ratio = 0, .floor_per_second = 0.1}, 2);
  std::vector<std::atomic<int>> taken(kRounds);
  std::atomic<int> current{0};
  OnTwoThreads([&](int worker) {
    for (int round = 0; round < kRounds; round = current.load()) {
      if (!budget.Withdraw(worker, Instant() + absl::Seconds(30 * round))) continue;
      taken[round].fetch_add(1);
      current.store(round + 1);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_EQ(taken[round].load(), 1) << "window " << round;
  }
}

TEST(RetryBudgetThreads, A48_TheRatioHoldsWhileBothDepositAndWithdraw) {
  constexpr int kCalls = 200'000;
  RetryBudget budget({.ratio = 0.1, .floor_per_second = 0}, 2);
  std::atomic<int> retries{0};
  OnTwoThreads([&](int worker) {
    // All in one slot, so that nothing leaves the window.
    const Instant now = Instant() + absl::Seconds(5);
    for (int i = 0; i < kCalls; ++i) {
      budget.Deposit(worker, now);
      budget.RecordEnd(false, false);
      if (budget.Withdraw(worker, now)) retries.fetch_add(1, std::memory_order_relaxed);
    }
  });
  const RetryBudget::State state = budget.Read(Instant() + absl::Seconds(5));
  EXPECT_EQ(state.calls, 2 * kCalls);
  EXPECT_EQ(state.retries, retries.load());
  EXPECT_LE(retries.load(), 2 * kCalls / 10);
  EXPECT_GE(retries.load(), 2 * kCalls / 10 - 2);
}

TEST(RetryBudgetThreads, A48_TheBoundHoldsWhileTimeRunsApartInTheWorkers) {
  constexpr int kCalls = 100'000;
  RetryBudget budget({.ratio = 0.1, .window = absl::Milliseconds(10), .floor_per_second = 0}, 2);
  std::atomic<int> retries{0};
  OnTwoThreads([&](int worker) {
    for (int i = 0; i < kCalls; ++i) {
      const Instant now = Instant() + absl::Microseconds(20 * i);
      budget.Deposit(worker, now);
      if (budget.Withdraw(worker, now)) retries.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_LE(retries.load(), 2 * kCalls / 10);
}

}  // namespace
}  // namespace levee
