// SPDX-License-Identifier: Apache-2.0
// One bucket: permits are exact to the nanosecond at every rate, and nothing overflows.
#include "policy/gcra.h"

#include <limits>

#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

// A bucket and its rate.
struct Limit {
  Limit(double per_second, int burst) : rate(per_second, burst), bucket(rate) {}

  RatePermit Take(Instant now, absl::Duration max_wait = kNoWait) {
    return bucket.Take(rate, now, max_wait);
  }

  // How many permits in a row are granted, at most `most`.
  int Drain(Instant now, absl::Duration max_wait = kNoWait, int most = 100'000'000) {
    int taken = 0;
    while (taken < most && Take(now, max_wait).granted) ++taken;
    return taken;
  }

  GcraRate rate;
  Gcra bucket;
};

TEST(Gcra, GrantsTheBurstAtOnceAndThenTheRate) {
  Limit limit(10, 5);
  EXPECT_EQ(limit.Drain(At(0)), 5);
  EXPECT_EQ(limit.Drain(At(0.3)), 3);
  EXPECT_EQ(limit.Drain(At(0.4)), 1);
}

TEST(Gcra, AQuietTimeSavesUpNoMoreThanTheBurst) {
  Limit limit(10, 5);
  limit.Drain(At(0));
  EXPECT_EQ(limit.Drain(At(86'400)), 5);
}

TEST(Gcra, APermitIsDueToTheNanosecond) {
  Limit limit(10, 1);
  EXPECT_TRUE(limit.Take(At(0)).granted);
  EXPECT_FALSE(limit.Take(At(0.1) - absl::Nanoseconds(1)).granted);
  EXPECT_TRUE(limit.Take(At(0.1)).granted);
}

TEST(Gcra, A76_RefusalTellsTheTimeToTheNextPermitAndChangesNothing) {
  Limit limit(10, 1);
  limit.Take(At(0));
  for (int i = 0; i < 100; ++i) {
    const RatePermit permit = limit.Take(At(0.03), absl::Milliseconds(69));
    ASSERT_FALSE(permit.granted);
    ASSERT_EQ(permit.wait, absl::Milliseconds(70));
  }
  EXPECT_TRUE(limit.Take(At(0.1)).granted);
}

TEST(Gcra, A75_PermitsBecomeDueInTheOrderInWhichTheyAreTaken) {
  Limit limit(10, 2);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, kNoWait);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, kNoWait);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, absl::Milliseconds(100));
  EXPECT_EQ(limit.Take(At(0), kForever).wait, absl::Milliseconds(200));
  EXPECT_EQ(limit.Take(At(0.05), kForever).wait, absl::Milliseconds(250));
  EXPECT_EQ(limit.Take(At(0.25), kForever).wait, absl::Milliseconds(150));
}

TEST(Gcra, MaxWaitItselfIsNotTooLong) {
  Limit limit(10, 1);
  limit.Take(At(0));
  EXPECT_FALSE(limit.Take(At(0), absl::Milliseconds(100) - absl::Nanoseconds(1)).granted);
  EXPECT_TRUE(limit.Take(At(0), absl::Milliseconds(100)).granted);
}

TEST(Gcra, NothingIsDueInTheTimeBeforeNow) {
  Limit limit(10, 1);
  const RatePermit permit = limit.Take(At(0), absl::Nanoseconds(-1));
  EXPECT_FALSE(permit.granted);
  EXPECT_EQ(permit.wait, kNoWait);
  EXPECT_TRUE(limit.Take(At(0)).granted);
}

TEST(Gcra, CheckSaysWhatTakeWouldSayAndTakesNothing) {
  Limit limit(10, 1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(limit.bucket.Check(limit.rate, At(0), kNoWait).granted);
  limit.Take(At(0));
  EXPECT_FALSE(limit.bucket.Check(limit.rate, At(0), kNoWait).granted);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(limit.bucket.Check(limit.rate, At(0), kForever).wait, absl::Milliseconds(100));
  }
}

TEST(Gcra, ReturnUndoesATake) {
  Limit limit(10, 2);
  limit.Take(At(0));
  const RatePermit second = limit.Take(At(0));
  const RatePermit third = limit.Take(At(0), kForever);
  limit.bucket.Return(limit.rate, third);
  limit.bucket.Return(limit.rate, second);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, kNoWait);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, absl::Milliseconds(100));
}

TEST(Gcra, ReturnDoesNotCrowdThoseWhoHaveTakenSince) {
  Limit limit(10, 1);
  limit.Take(At(0));
  const RatePermit returned = limit.Take(At(0), kForever);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, absl::Milliseconds(200));
  limit.bucket.Return(limit.rate, returned);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, absl::Milliseconds(300));
}

TEST(Gcra, ANowThatLagsBehindGrantsNothingTwice) {
  Limit limit(10, 5);
  EXPECT_EQ(limit.Drain(At(10)), 5);
  EXPECT_EQ(limit.Drain(At(9.9)), 0);
  EXPECT_EQ(limit.Take(At(9.9), kForever).wait, absl::Milliseconds(200));
  EXPECT_EQ(limit.Drain(At(10.1)), 0);
  EXPECT_EQ(limit.Drain(At(10.2)), 1);
}

TEST(Gcra, IsIdleAsSoonAsItIsFull) {
  Limit limit(10, 5);
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rate, At(0)));
  limit.Take(At(0));
  limit.Take(At(0));
  EXPECT_FALSE(limit.bucket.IdleAt(limit.rate, At(0.2) - absl::Nanoseconds(1)));
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rate, At(0.2)));
}

// The n-th permit after the first, taken at time zero, is due at n / rate rounded up.
TEST(GcraPrecision, DueTimesAreExactAtEveryRate) {
  struct Case {
    double per_second;
    int n;
    int64_t due_nanos;
  };
  for (const Case& c :
       {Case{1e9, 1'000'000, 1'000'000}, Case{7e8, 700'000, 1'000'000}, Case{7e8, 1, 2},
        Case{333'333'333, 1'000'000, 3'000'001}, Case{1e6, 1'000'000, 1'000'000'000},
        Case{3, 3'000, 1'000'000'000'000}, Case{3, 1, 333'333'334},
        Case{100.0 / 60, 1'000, 600'000'000'000}, Case{1.0 / 3600, 1, 3'600'000'000'000},
        Case{1.0 / 3600, 240, 864'000'000'000'000}}) {
    Limit limit(c.per_second, 1);
    EXPECT_EQ(limit.Drain(Instant(), kForever, c.n), c.n);
    EXPECT_EQ(limit.Take(Instant(), kForever).wait, absl::Nanoseconds(c.due_nanos))
        << c.n << " at " << c.per_second;
  }
}

TEST(GcraPrecision, ARateIsNeverSlowerAndHardlyFasterThanAsked) {
  for (const double per_second : {1.0 / 3600, 1.0 / 7, 123.456, 99'999.9, 7e8}) {
    const GcraRate rate(per_second, 1);
    const double asked = per_second * absl::ToDoubleSeconds(kYear);
    const double made =
        static_cast<double>(rate.At(Instant() + kYear)) / static_cast<double>(rate.permit());
    EXPECT_GE(made, asked * (1 - 1e-15)) << per_second;
    EXPECT_LE(made, asked * (1 + 2e-15)) << per_second;
  }
}

TEST(GcraPrecision, IntervalsAreExactAfter29YearsOfUptime) {
  const Instant late = Instant() + 29 * kYear;
  Limit fast(1e9, 1);
  Limit slow(1.0 / 3600, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fast.Take(late, kForever).wait, absl::Nanoseconds(i));
    EXPECT_EQ(slow.Take(late, kForever).wait, absl::Hours(i));
  }
}

TEST(GcraExtremes, ABurstOfAThousandMillionAtOnePerHourIsKept) {
  const GcraRate rate(1.0 / 3600, 1'000'000'000);
  EXPECT_EQ(rate.burst() / rate.permit(), 1'000'000'000);
  EXPECT_EQ(rate.burst() % rate.permit(), 0);
  // Its positions are coarser than a nanosecond but fine.
  Limit limit(1.0 / 3600, 1'000'000'000);
  EXPECT_EQ(limit.Drain(At(0), kNoWait, 1'000'000), 1'000'000);
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rate, At(3600e6)));
  EXPECT_FALSE(limit.bucket.IdleAt(limit.rate, At(3600e6) - absl::Milliseconds(1)));
}

TEST(GcraExtremes, AMillionAtOncePerHourWaitsAnHourForTheNext) {
  Limit limit(1.0 / 3600, 1'000'000);
  EXPECT_EQ(limit.Drain(At(5)), 1'000'000);
  EXPECT_EQ(limit.Take(At(5)).wait, absl::Hours(1));
}

TEST(GcraExtremes, ALineOfAYear) {
  Limit limit(1.0 / 3600, 1);
  EXPECT_EQ(limit.Drain(At(0), kYear), 8761);  // the first at once
  const absl::Duration next = limit.Take(At(0), kYear).wait;
  EXPECT_LE(next, absl::Hours(8761));
  EXPECT_GT(next, absl::Hours(8761) - absl::Nanoseconds(32));  // 1 part in 10^15
}

TEST(GcraExtremes, TheFastestRateWithTheLargestBurstAndLine) {
  Limit limit(1e9, 1'000'000'000);
  EXPECT_EQ(limit.Drain(Instant() + 28 * kYear, kYear, 1'000), 1'000);
  const GcraRate rate(1e9, std::numeric_limits<int>::max());
  EXPECT_EQ(rate.burst() / rate.permit(), std::numeric_limits<int>::max());
}

TEST(GcraExtremes, ALineWithoutEndIsRefusedBeforeItOverflows) {
  Limit limit(1e-300, 1);
  EXPECT_LT(limit.Drain(At(0), kForever, 1'000), 1'000);
  EXPECT_GT(limit.Take(At(0), kForever).wait, 30 * kYear);
}

TEST(GcraExtremes, APositionThatIsNeverReachedIsInfinite) {
  EXPECT_EQ(GcraRate(1e-300, 1'000'000'000).Reached(GcraRate::kEnd), Instant::Infinite());
}

TEST(GcraExtremes, TimesOutsideTheHorizonDoNotOverflow) {
  Limit limit(1e9, 3);
  EXPECT_EQ(limit.Drain(Instant::FromNanos(std::numeric_limits<int64_t>::min())), 3);
  EXPECT_EQ(limit.Drain(Instant() + 200 * kYear, kNoWait, 10), 3);
  EXPECT_EQ(limit.Drain(Instant() + 201 * kYear), 0);
}

}  // namespace
}  // namespace levee
