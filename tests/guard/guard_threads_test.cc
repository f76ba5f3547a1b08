// SPDX-License-Identifier: Apache-2.0
// A guard that several workers share, each in a thread of its own.
#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "guard/guard.h"
#include "guard/times.h"

namespace levee {
namespace {

// Callers of one worker, who come, wait, leave the queue, are served and leave, by lot.
class Crowd {
 public:
  Crowd(Guard& guard, int worker) : guard_(guard), worker_(worker), random_(worker + 1) {
    guard_.SetWake(worker_, [this] { woken_ = true; });
  }

  void Run(int callers) {
    for (int i = 0; i < callers; ++i) {
      now_ = now_ + absl::Microseconds(10);
      Come();
      if (woken_.exchange(false)) guard_.Answer(worker_, now_);
      longest_ = std::max(longest_, guard_.View(now_).waiting);
      if (random_.Uniform() < 0.4) LeaveTheQueue();
      if (random_.Uniform() < 0.6) EndServed();
    }
  }

  // All who are left go, whether they wait or are served.
  void GoHome() {
    while (!waiting_.empty()) LeaveTheQueue();
    while (served_ > 0) EndServed();
  }

  int all() const { return ended_ + refused_ + withdrawn_; }
  int refused() const { return refused_; }
  int withdrawn() const { return withdrawn_; }
  int longest() const { return longest_; }

 private:
  struct Caller final : GuardClient {
    Caller(Crowd& of, int worker) : crowd(of), place(*this, worker) {}
    void OnSlot(Instant) override {
      ++crowd.served_;
      crowd.Forget(*this);
    }
    void OnGuardRefused(const GuardRefusal&, Instant) override {
      ++crowd.refused_;
      crowd.Forget(*this);
    }
    Crowd& crowd;
    GuardPlace place;
  };

  void Come() {
    if (guard_.TryEnter(worker_, /*previous=*/0, now_)) {
      ++served_;
      return;
    }
    Caller& caller = waiting_.emplace_back(*this, worker_);
    const Guard::Entry entry =
        guard_.Enter(caller.place, GuardRank(false, 64, 0), Instant::Infinite(), now_);
    if (entry.waits) return;
    entry.refusal.has_value() ? ++refused_ : ++served_;
    waiting_.pop_back();
  }

  void LeaveTheQueue() {
    if (waiting_.empty()) return;
    guard_.Withdraw(waiting_.front().place, now_);
    waiting_.pop_front();
    ++withdrawn_;
  }

  void EndServed() {
    if (served_ == 0) return;
    --served_;
    ++ended_;
    guard_.Leave(worker_, /*method=*/0, absl::Milliseconds(1), now_);
  }

  void Forget(Caller& caller) {
    waiting_.remove_if([&](const Caller& each) { return &each == &caller; });
  }

  Guard& guard_;
  const int worker_;
  Random random_;
  Instant now_ = kStart;
  std::atomic<bool> woken_ = false;
  std::list<Caller> waiting_;
  int served_ = 0;  // now
  int ended_ = 0, refused_ = 0, withdrawn_ = 0;
  int longest_ = 0;  // queue that was seen
};

TEST(GuardThreads, G8_ManyCallersThatWaitAndLeaveLeaveNoSlotTaken) {
  constexpr int kWorkers = 4, kCallers = 25'000, kQueue = 20;
  GuardPolicy policy;
  policy.concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 8};
  policy.queue.max = kQueue;
  Guard guard(policy, kWorkers);
  std::vector<std::unique_ptr<Crowd>> crowds;
  for (int i = 0; i < kWorkers; ++i) crowds.push_back(std::make_unique<Crowd>(guard, i));
  std::vector<std::thread> threads;
  for (const auto& crowd : crowds) threads.emplace_back([&] { crowd->Run(kCallers); });
  for (std::thread& thread : threads) thread.join();
  int all = 0, refused = 0, withdrawn = 0;
  for (const auto& crowd : crowds) {
    crowd->GoHome();
    EXPECT_LE(crowd->longest(), kQueue);
    all += crowd->all();
    refused += crowd->refused();
    withdrawn += crowd->withdrawn();
  }
  EXPECT_EQ(all, kWorkers * kCallers);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(withdrawn, 1000);
  EXPECT_EQ(guard.View(kStart).in_flight, 0);
  EXPECT_EQ(guard.View(kStart).waiting, 0);
}

// A rule that takes its time to judge a window, under the guard's lock.
class SlowRule final : public LimitRule {
 public:
  SlowRule(std::promise<void>& begun, std::future<void> end)
      : begun_(begun), end_(std::move(end)) {}

  LimitStep Begin() override { return {.limit = 10}; }
  std::optional<LimitStep> Next(const LimitWindow&) override {
    begun_.set_value();
    end_.wait();
    return LimitStep{.limit = 10};
  }

 private:
  std::promise<void>& begun_;
  std::future<void> end_;
};

TEST(GuardThreads, G13_ACallThatFindsASlotWaitsForNoLock) {
  std::promise<void> begun, end;
  Guard guard({}, /*workers=*/2, std::make_unique<SlowRule>(begun, end.get_future()));
  ASSERT_TRUE(guard.TryEnter(0, 0, kStart));
  const Instant later = kStart + absl::Seconds(1);  // The window is over.
  std::thread judging([&] { guard.Leave(0, 0, absl::Milliseconds(1), later); });
  begun.get_future().wait();
  auto calls = std::async(std::launch::async, [&] {
    int served = 0;
    for (int i = 0; i < 1000; ++i) {
      served += guard.TryEnter(1, 0, later);
      guard.Leave(1, 0, absl::Milliseconds(1), later);
    }
    return served;
  });
  // The lock is held until the end, so a call that waited for it would never be done.
  EXPECT_EQ(calls.get(), 1000);
  end.set_value();
  judging.join();
}

}  // namespace
}  // namespace levee
