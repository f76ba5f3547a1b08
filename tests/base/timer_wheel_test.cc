// SPDX-License-Identifier: Apache-2.0
#include "base/timer_wheel.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr int64_t kMs = 1'000'000;

Instant AtMs(int64_t ms) { return Instant::FromNanos(ms * kMs); }

// Calls what it is given.
class CallingTimer : public Timer {
 public:
  explicit CallingTimer(std::function<void(Instant)> f = [](Instant) {}) : f_(std::move(f)) {}
  void OnTimer(Instant now) override { f_(now); }

 private:
  std::function<void(Instant)> f_;
};

// Counts its calls.
class CountingTimer : public Timer {
 public:
  void OnTimer(Instant) override { ++calls; }
  int calls = 0;
};

TEST(TimerWheel, CallsATimerAtItsInstantAndNotBefore) {
  TimerWheel wheel(AtMs(1000));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(1005));
  wheel.Advance(Instant::FromNanos(1005 * kMs - 1));
  EXPECT_EQ(timer.calls, 0);
  wheel.Advance(AtMs(1005));
  EXPECT_EQ(timer.calls, 1);
  wheel.Advance(AtMs(2000));
  EXPECT_EQ(timer.calls, 1);
}

TEST(TimerWheel, RoundsAFractionOfATickUp) {
  TimerWheel wheel(AtMs(0));
  CountingTimer timer;
  wheel.Arm(timer, Instant::FromNanos(5 * kMs + 1));
  wheel.Advance(Instant::FromNanos(6 * kMs - 1));
  EXPECT_EQ(timer.calls, 0);
  wheel.Advance(AtMs(6));
  EXPECT_EQ(timer.calls, 1);
}

TEST(TimerWheel, CallsATimerOfThePastAtTheNextTick) {
  TimerWheel wheel(AtMs(1000));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(1));
  EXPECT_LE(wheel.NextWakeup(), AtMs(1001));
  wheel.Advance(AtMs(1001));
  EXPECT_EQ(timer.calls, 1);
}

TEST(TimerWheel, ArmingAgainMovesTheTimer) {
  TimerWheel wheel(AtMs(0));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(10));
  wheel.Arm(timer, AtMs(300));
  EXPECT_EQ(timer.when(), AtMs(300));
  wheel.Advance(AtMs(299));
  EXPECT_EQ(timer.calls, 0);
  wheel.Advance(AtMs(300));
  EXPECT_EQ(timer.calls, 1);
}

TEST(TimerWheel, ArmingForInfinityDisarms) {
  TimerWheel wheel(AtMs(0));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(10));
  wheel.Arm(timer, Instant::Infinite());
  EXPECT_TRUE(timer.when().is_infinite());
  wheel.Advance(AtMs(100));
  EXPECT_EQ(timer.calls, 0);
}

TEST(TimerWheel, DestroyingATimerDisarmsIt) {
  TimerWheel wheel(AtMs(0));
  int calls = 0;
  {
    CallingTimer timer([&](Instant) { ++calls; });
    wheel.Arm(timer, AtMs(10));
  }
  wheel.Advance(AtMs(100));
  EXPECT_EQ(calls, 0);
}

TEST(TimerWheel, ATimerMayArmItselfAgainWhileItIsCalled) {
  TimerWheel wheel(AtMs(0));
  std::vector<Instant> calls;
  std::unique_ptr<CallingTimer> timer;
  timer = std::make_unique<CallingTimer>([&](Instant now) {
    calls.push_back(now);
    if (calls.size() < 3) wheel.Arm(*timer, now + absl::Milliseconds(256));
  });
  wheel.Arm(*timer, AtMs(1));
  for (int64_t ms = 1; ms <= 1000; ++ms) wheel.Advance(AtMs(ms));
  EXPECT_EQ(calls, (std::vector<Instant>{AtMs(1), AtMs(257), AtMs(513)}));
}

TEST(TimerWheel, ATimerMayDisarmOneThatIsDueInTheSameTick) {
  TimerWheel wheel(AtMs(0));
  CountingTimer second;
  CallingTimer first([&](Instant) { wheel.Arm(second, Instant::Infinite()); });
  wheel.Arm(first, AtMs(5));
  wheel.Arm(second, AtMs(5));
  wheel.Advance(AtMs(5));
  EXPECT_EQ(second.calls, 0);
}

TEST(TimerWheel, ATimerMayDestroyOneThatIsDueInTheSameTick) {
  TimerWheel wheel(AtMs(0));
  auto second = std::make_unique<CountingTimer>();
  CallingTimer first([&](Instant) { second.reset(); });
  wheel.Arm(first, AtMs(5));
  wheel.Arm(*second, AtMs(5));
  wheel.Advance(AtMs(5));
  EXPECT_EQ(second, nullptr);
}

TEST(TimerWheel, HoldsTimersBeyondTheReachOfItsTopLevel) {
  constexpr int64_t kReachMs = int64_t{1} << 32;
  TimerWheel wheel(AtMs(77));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(3 * kReachMs + 5));
  wheel.Advance(AtMs(3 * kReachMs + 4));
  EXPECT_EQ(timer.calls, 0);
  wheel.Advance(AtMs(3 * kReachMs + 5));
  EXPECT_EQ(timer.calls, 1);
}

TEST(TimerWheel, HoldsTheLatestFiniteInstant) {
  TimerWheel wheel(AtMs(0));
  CountingTimer timer;
  wheel.Arm(timer, Instant::FromNanos(INT64_MAX - 1));
  wheel.Advance(AtMs(1'000'000));
  EXPECT_EQ(timer.calls, 0);
  EXPECT_GT(wheel.NextWakeup(), AtMs(1'000'000));
}

TEST(TimerWheel, AWheelWithoutTimersNeverWakes) {
  TimerWheel wheel(AtMs(0));
  EXPECT_TRUE(wheel.NextWakeup().is_infinite());
  CountingTimer timer;
  wheel.Arm(timer, AtMs(5));
  wheel.Advance(AtMs(5));
  EXPECT_TRUE(wheel.NextWakeup().is_infinite());
}

TEST(TimerWheel, TimersThatWereDisarmedCauseOneWakeupTogether) {
  TimerWheel wheel(AtMs(0));
  CountingTimer disarmed;
  CountingTimer later;
  for (int i = 0; i < 1000; ++i) {
    wheel.Arm(disarmed, AtMs(20 + i / 10));
    disarmed.Unlink();
  }
  wheel.Arm(later, AtMs(700));
  EXPECT_EQ(wheel.NextWakeup(), AtMs(20));
  wheel.Advance(AtMs(20));
  EXPECT_GT(wheel.NextWakeup(), AtMs(500));
  later.Unlink();
  wheel.Advance(AtMs(700));
  EXPECT_TRUE(wheel.NextWakeup().is_infinite());
}

TEST(TimerWheel, NextWakeupIsExactForTheNextFewTicks) {
  TimerWheel wheel(AtMs(1000));
  CountingTimer timer;
  wheel.Arm(timer, AtMs(1003));
  EXPECT_EQ(wheel.NextWakeup(), AtMs(1003));
}

TEST(TimerWheel, A75_TimersOfOneTickAreCalledInTheOrderOfTheirInstants) {
  TimerWheel wheel(AtMs(0));
  std::vector<int> called;
  std::deque<CallingTimer> timers;
  for (const int micros : {5900, 5100, 5500, 5300}) {
    timers.emplace_back([&called, micros](Instant) { called.push_back(micros); });
    wheel.Arm(timers.back(), Instant() + absl::Microseconds(micros));
  }
  wheel.Advance(AtMs(10));
  EXPECT_EQ(called, (std::vector<int>{5100, 5300, 5500, 5900}));
}

TEST(TimerWheel, DestroyingTheWheelLeavesArmedTimersDisarmed) {
  CountingTimer timer;
  {
    TimerWheel wheel(AtMs(0));
    wheel.Arm(timer, AtMs(10));
  }
  EXPECT_TRUE(timer.when().is_infinite());
}

// A wheel and beside it a sorted multimap of what is armed, which is right for being simple.
class Model {
 public:
  explicit Model(uint64_t seed)
      : random_(seed), now_(AtMs(static_cast<int64_t>(random_.Below(1 << 20)))), wheel_(now_) {
    for (int i = 0; i < 200; ++i) {
      timers_.push_back(
          std::make_unique<CallingTimer>([this, i](Instant now) { OnTimer(i, now); }));
      armed_at_.push_back(armed_.end());
    }
  }

  void Step() {
    const int timer = static_cast<int>(random_.Below(timers_.size()));
    switch (random_.Below(9)) {
      case 0:
      case 1:
        Arm(timer, Instant::Infinite());
        break;
      case 2:
      case 3:
        AdvanceTo(now_ + Span());
        break;
      case 4:
        // A turn of the loop takes time too: timers are armed while the wheel is behind.
        now_ = now_ + Span();
        break;
      default:
        Arm(timer, now_ + Span());
    }
    // A loop that sleeps until NextWakeup must not sleep past the next timer's tick.
    if (!armed_.empty()) {
      const Instant next = std::max(armed_.begin()->first, now_);
      ASSERT_LE(wheel_.NextWakeup(), next + absl::Milliseconds(1));
    }
  }

  int called() const { return called_; }

 private:
  // From nanoseconds to months, so that every level of the wheel is used and its reach exceeded.
  absl::Duration Span() {
    return absl::Nanoseconds(static_cast<int64_t>(random_.Below(uint64_t{1} << random_.Below(54))));
  }

  void Arm(int timer, Instant when) {
    auto& entry = armed_at_[timer];
    if (entry != armed_.end()) armed_.erase(entry);
    entry = when.is_infinite() ? armed_.end() : armed_.emplace(when, timer);
    wheel_.Arm(*timers_[timer], when);
    ASSERT_EQ(timers_[timer]->when(), when);
  }

  void OnTimer(int timer, Instant now) {
    ++called_;
    ASSERT_EQ(now, now_);
    ASSERT_NE(armed_at_[timer], armed_.end()) << "called without being armed";
    ASSERT_LE(armed_at_[timer]->first, now_) << "called early";
    armed_.erase(std::exchange(armed_at_[timer], armed_.end()));
    // Like calls that end and calls that go on.
    if (random_.Below(4) == 0) Arm(timer, now_ + Span());
    if (random_.Below(4) == 0) {
      Arm(static_cast<int>(random_.Below(timers_.size())), Instant::Infinite());
    }
  }

  void AdvanceTo(Instant now) {
    now_ = now;
    wheel_.Advance(now);
    // Late by a tick at most.
    if (!armed_.empty()) {
      ASSERT_GT(armed_.begin()->first + absl::Milliseconds(1), now);
    }
  }

  Random random_;
  Instant now_;
  TimerWheel wheel_;
  std::multimap<Instant, int> armed_;
  std::vector<std::multimap<Instant, int>::iterator> armed_at_;
  std::vector<std::unique_ptr<CallingTimer>> timers_;
  int called_ = 0;
};

TEST(TimerWheel, AgreesWithASortedMapOverRandomRuns) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Model model(seed);
    for (int i = 0; i < 2000; ++i) {
      model.Step();
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(model.called(), 100);
  }
}

// A loop that always sleeps exactly until NextWakeup calls every timer in its tick.
TEST(TimerWheel, SleepingUntilNextWakeupIsNeverLate) {
  Random random(7);
  Instant now = AtMs(123'456);
  TimerWheel wheel(now);
  std::vector<std::unique_ptr<CallingTimer>> timers;
  int called = 0;
  for (int i = 0; i < 500; ++i) {
    const int64_t span = static_cast<int64_t>(random.Below(uint64_t{1} << (10 + random.Below(40))));
    const Instant when = now + absl::Nanoseconds(span);
    timers.push_back(std::make_unique<CallingTimer>([&called, when](Instant at) {
      ++called;
      EXPECT_LE(when, at);
      EXPECT_LE(at, when + absl::Milliseconds(1));
    }));
    wheel.Arm(*timers.back(), when);
  }
  int wakeups = 0;
  while (!wheel.NextWakeup().is_infinite()) {
    ASSERT_GT(wheel.NextWakeup(), now);
    now = wheel.NextWakeup();
    wheel.Advance(now);
    ASSERT_LT(++wakeups, 5000);
  }
  EXPECT_EQ(called, 500);
}

}  // namespace
}  // namespace levee
