// SPDX-License-Identifier: Apache-2.0
// The phases of the drain on virtual time.
#include "sidecar/drain.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using Step = Drain::Step;
constexpr absl::Duration kTimeout = absl::Seconds(20);

Instant At(absl::Duration since_start) { return Instant::FromNanos(0) + since_start; }

// A drain that is looked at whenever it wants to be, with a load that the test sets.
class DrainTest : public testing::Test {
 protected:
  // Looks until a step is due or `until` has come; the step.
  Step LookUntil(Instant until) {
    while (now_ < until) {
      now_ = now_ + Drain::kLookEvery;
      if (const Step step = drain_.Look(now_, load_); step != Step::kNone) return step;
    }
    return Step::kNone;
  }

  Drain drain_;
  Drain::Load load_;
  Instant now_ = At(absl::ZeroDuration());
};

TEST_F(DrainTest, AnIdleSidecarLeavesAfterAQuietSecondAndStopsAMomentLater) {
  EXPECT_FALSE(drain_.begun());
  EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kBegin);
  EXPECT_TRUE(drain_.begun());
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kAnnounce);
  EXPECT_EQ(now_, At(Drain::kQuiet));
  EXPECT_FALSE(drain_.stopped());
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kStop);
  EXPECT_EQ(now_, At(Drain::kQuiet + Drain::kLeaving));
  EXPECT_TRUE(drain_.stopped());
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kNone);
}

TEST_F(DrainTest, ACallThatStaysHoldsItUpToTheTimeoutAndNoLonger) {
  load_.active = 1;
  drain_.OnSignal(now_, kTimeout);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(now_, At(kTimeout));
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kStop);
  EXPECT_EQ(now_, At(kTimeout + Drain::kLeaving));
}

TEST_F(DrainTest, OneThatIsToGoOnUntilASignalDoesHoweverLongItIsQuiet) {
  EXPECT_EQ(drain_.Ask(now_, kTimeout, /*until_signal=*/true), Step::kBegin);
  EXPECT_EQ(drain_.Ask(now_, kTimeout), Step::kNone);
  EXPECT_EQ(LookUntil(At(absl::Minutes(10))), Step::kNone);
  EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kNone);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(now_, At(absl::Minutes(10) + Drain::kQuiet));
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kStop);
}

TEST_F(DrainTest, TheTimeoutOfOneThatAwaitsASignalCountsFromTheSignal) {
  load_.active = 1;
  drain_.Ask(now_, kTimeout, /*until_signal=*/true);
  EXPECT_EQ(LookUntil(At(absl::Minutes(10))), Step::kNone);
  drain_.OnSignal(now_, kTimeout);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(now_, At(absl::Minutes(10) + kTimeout));
}

TEST_F(DrainTest, W10_AfterTheSignalNobodyWaitsForAnApplicationThatHasGone) {
  load_.application_gone = true;
  drain_.Ask(now_, kTimeout, /*until_signal=*/true);
  EXPECT_EQ(LookUntil(At(absl::Seconds(30))), Step::kNone);
  drain_.OnSignal(now_, kTimeout);
  load_.active = 1;
  EXPECT_EQ(LookUntil(At(absl::Seconds(31))), Step::kNone);
  load_.active = 0;
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kStop);
  EXPECT_LE(now_, At(absl::Seconds(31) + Drain::kLeaving + 2 * Drain::kLookEvery));
}

TEST_F(DrainTest, AStreamDoesNotPutOffThatItsCallerIsToldToGo) {
  load_.streams = 1;
  drain_.OnSignal(now_, kTimeout);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(now_, At(Drain::kQuiet));
  EXPECT_EQ(LookUntil(At(absl::Seconds(9))), Step::kNone);
  load_.streams = 0;
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kStop);
  EXPECT_EQ(now_, At(absl::Seconds(9)) + Drain::kLookEvery);
}

TEST_F(DrainTest, AStreamThatStaysIsEndedAtTheTimeout) {
  load_.streams = 1;
  drain_.OnSignal(now_, kTimeout);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kAnnounce);
  EXPECT_EQ(LookUntil(At(absl::Hours(1))), Step::kStop);
  EXPECT_EQ(now_, At(kTimeout));
}

TEST_F(DrainTest, ACallThatComesWhileItLeavesIsWaitedFor) {
  drain_.OnSignal(now_, kTimeout);
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kAnnounce);
  load_.active = 1;
  EXPECT_EQ(LookUntil(At(absl::Seconds(5))), Step::kNone);
  load_.active = 0;
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kStop);
  EXPECT_EQ(now_, At(absl::Seconds(5)) + Drain::kLookEvery);
}

TEST_F(DrainTest, CallsThatEndBetweenTwoLooksKeepItUp) {
  drain_.OnSignal(now_, kTimeout);
  for (int i = 1; i <= 10; ++i) {
    ++load_.begun;
    EXPECT_EQ(LookUntil(At(absl::Milliseconds(900) * i)), Step::kNone);
  }
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kAnnounce);
}

TEST_F(DrainTest, BytesThroughATunnelAndNewConnectionsKeepItUp) {
  drain_.OnSignal(now_, kTimeout);
  for (int i = 1; i <= 10; ++i) {
    if (i % 2 == 0) {
      load_.tunnelled_bytes += 100;
    } else {
      drain_.OnConnection(now_);
    }
    EXPECT_EQ(LookUntil(At(absl::Milliseconds(900) * i)), Step::kNone) << i;
  }
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kAnnounce);
}

TEST_F(DrainTest, TheSecondSignalStopsAtOnceInEveryPhase) {
  for (const Step last : {Step::kBegin, Step::kAnnounce}) {
    drain_ = Drain();
    load_.active = 0;
    EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kBegin);
    if (last == Step::kAnnounce) {
      EXPECT_EQ(LookUntil(now_ + kTimeout), Step::kAnnounce);
    }
    load_.active = 1;
    EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kStop);
    EXPECT_TRUE(drain_.stopped());
    EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kNone);
  }
}

TEST_F(DrainTest, TheSignalThatFollowsARequestToDrainChangesNothing) {
  EXPECT_EQ(drain_.Ask(now_, kTimeout), Step::kBegin);
  EXPECT_EQ(drain_.Ask(now_, kTimeout), Step::kNone);
  EXPECT_EQ(LookUntil(At(absl::Milliseconds(500))), Step::kNone);
  EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kNone);
  EXPECT_EQ(LookUntil(At(kTimeout)), Step::kAnnounce);
  EXPECT_EQ(now_, At(Drain::kQuiet));
  EXPECT_EQ(drain_.OnSignal(now_, kTimeout), Step::kStop);
}

// Callers at random: calls with a begin and an end, bytes in tunnels, new connections. Most come in
// the first seconds, some during the whole drain.
class RandomCallers {
 public:
  explicit RandomCallers(Random& random) {
    const absl::Duration busy = absl::Seconds(4) * random.Uniform();
    const int count = static_cast<int>(random.Below(30));
    for (int i = 0; i < count; ++i) {
      const absl::Duration begin =
          (random.Below(8) == 0 ? absl::Seconds(8) : busy) * random.Uniform();
      const absl::Duration length =
          random.Below(2) == 0 ? absl::Microseconds(100) : absl::Seconds(6) * random.Uniform();
      const auto kind = static_cast<Kind>(random.Below(3));
      events_.push_back({At(begin), kind == kCall ? At(begin + length) : At(begin), kind});
    }
  }

  Drain::Load LoadAt(Instant now) const {
    Drain::Load load;
    for (const Event& event : events_) {
      if (event.begin > now) continue;
      if (event.kind == kCall) ++load.begun;
      if (event.kind == kCall && event.end > now) ++load.active;
      if (event.kind == kBytes) load.tunnelled_bytes += 7;
    }
    return load;
  }

  bool ConnectsIn(Instant after, Instant until) const {
    return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
      return event.kind == kConnection && event.begin > after && event.begin <= until;
    });
  }

  // When somebody was last there, as seen at `now`.
  Instant LastBusy(Instant now) const {
    Instant last = At(absl::ZeroDuration());
    for (const Event& event : events_) {
      if (event.begin <= now) last = std::max(last, std::min(event.end, now));
    }
    return last;
  }

 private:
  enum Kind { kCall, kBytes, kConnection };
  struct Event {
    Instant begin, end;
    Kind kind;
  };

  std::vector<Event> events_;
};

TEST(DrainProperty, ItLeavesWhenItIsQuietAndStopsWhenNobodyIsLeftOrAtTheTimeout) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomCallers callers(random);
    const absl::Duration timeout = absl::Seconds(7) * random.Uniform();
    const Instant deadline = At(timeout);
    Drain drain;
    ASSERT_EQ(drain.OnSignal(At(absl::ZeroDuration()), timeout), Step::kBegin);
    Instant announced = Instant::Infinite();
    Instant before = At(absl::ZeroDuration());
    while (!drain.stopped()) {
      const Instant now = before + Drain::kLookEvery;
      if (callers.ConnectsIn(before, now)) drain.OnConnection(now);
      const Drain::Load load = callers.LoadAt(now);
      const Step step = drain.Look(now, load);
      if (step == Step::kAnnounce) {
        ASSERT_EQ(announced, Instant::Infinite());
        announced = now;
        // A call may have ended up to a look after the one that saw it.
        ASSERT_TRUE(now >= deadline ||
                    now - callers.LastBusy(now) > Drain::kQuiet - Drain::kLookEvery);
      }
      const Instant leave_until = announced + Drain::kLeaving;
      if (step == Step::kStop) {
        ASSERT_GE(now, leave_until);
        ASSERT_TRUE(now >= deadline || load.active == 0);
      } else if (announced == Instant::Infinite()) {
        // It saw the last caller one look later at most.
        ASSERT_TRUE(now < deadline &&
                    now - callers.LastBusy(now) < Drain::kQuiet + Drain::kLookEvery);
      } else {
        ASSERT_TRUE(now < leave_until || (now < deadline && load.active > 0));
      }
      before = now;
    }
  }
}

}  // namespace
}  // namespace levee
