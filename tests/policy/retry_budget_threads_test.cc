// SPDX-License-Identifier: Apache-2.0
// A48 with real threads: the bound holds without locks.
#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "policy/retry_budget.h"

namespace levee {
namespace {

// Runs `body(worker)` on two threads.
template <typename Body>
void RunOnTwoThreads(const Body& body) {
  std::thread other([&] { body(1); });
  body(0);
  other.join();
}

// Two threads that want the same retry all the time, while one of them makes a call whenever the
// calls so far are spent. Counts what was granted, apart from the budget's own books.
class OneRetryPerCall {
 public:
  void Run(int calls) {
    RunOnTwoThreads([&](int worker) { worker == 0 ? Spend(calls) : Compete(); });
  }

  bool overdrawn() const { return overdrawn_.load(); }
  int granted() const { return granted_.load(); }

 private:
  bool TryOnce(int worker) {
    if (!budget_.Withdraw(worker, Instant())) return false;
    // A call is counted before its deposit, so no order of events makes this true by accident.
    if (granted_.fetch_add(1) + 1 > calls_.load()) overdrawn_.store(true);
    return true;
  }

  void Spend(int calls) {
    for (int call = 0; call < calls; ++call) {
      calls_.fetch_add(1);
      budget_.Deposit(0, Instant());
      for (int tries = 1; granted_.load() < calls_.load(); ++tries) {
        if (!TryOnce(0) && tries % 1000 == 0) std::this_thread::yield();
      }
      // Time for the other thread to be granted what is spent already.
      for (int tries = 0; tries < 10; ++tries) TryOnce(0);
    }
    done_.store(true);
  }

  void Compete() {
    while (!done_.load()) TryOnce(1);
  }

  RetryBudget budget_{{.ratio = 1, .floor_per_second = 0}, 2};
  std::atomic<int> calls_{0};
  std::atomic<int> granted_{0};
  std::atomic<bool> overdrawn_{false};
  std::atomic<bool> done_{false};
};

TEST(RetryBudgetThreads, A48_TheLastRetryIsNeverTakenTwice) {
  OneRetryPerCall race;
  race.Run(60'000);
  EXPECT_FALSE(race.overdrawn());
  EXPECT_EQ(race.granted(), 60'000);
}

TEST(RetryBudgetThreads, A48_TheRatioHoldsWhileBothDepositAndWithdraw) {
  constexpr int kCalls = 200'000;
  RetryBudget budget({.ratio = 0.1, .floor_per_second = 0}, 2);
  std::atomic<int> retries{0};
  RunOnTwoThreads([&](int worker) {
    // All in one slot, so that nothing leaves the window.
    const Instant now = Instant() + absl::Seconds(5);
    for (int i = 0; i < kCalls; ++i) {
      budget.Deposit(worker, now);
      budget.RecordEnd({}, now);
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
  RunOnTwoThreads([&](int worker) {
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
