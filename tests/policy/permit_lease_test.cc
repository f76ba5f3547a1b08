// SPDX-License-Identifier: Apache-2.0
// One bucket of a shared limit: which calls begin, when the store is asked, and for how much.
#include "policy/permit_lease.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

using Verdict = PermitLease::Verdict;
using State = PermitLease::State;

// A limit of 1000 per second with leases of 200 ms, and the clock of its bucket.
struct Bucket {
  PermitLease::Decision Take() {
    const PermitLease::Decision decision = lease.Take(rule, now);
    if (decision.request.want > 0) asked = decision.request;
    return decision;
  }

  // Takes `calls` permits, one per `gap`. Returns how many were given.
  int Take(int calls, absl::Duration gap) {
    int given = 0;
    for (int i = 0; i < calls; ++i) {
      given += Take().verdict == Verdict::kAdmitted ? 1 : 0;
      now = now + gap;
    }
    return given;
  }

  void Grant(int64_t granted, absl::Duration wait = absl::ZeroDuration()) {
    asked = {};
    lease.OnGrant(rule, {.granted = granted, .wait = wait}, now);
  }
  void Lose(int sidecars = 4) {
    asked = {};
    lease.OnLost(rule, sidecars, now);
  }

  // The first call of an idle bucket, and its answer.
  void Begin(int64_t granted) {
    Take();
    Grant(granted);
  }

  LeaseRule rule{.per_second = 1000, .burst = 200};
  PermitLease lease;
  Instant now = Instant() + absl::Seconds(100);
  LeaseRequest asked;  // since the last answer
};

TEST(PermitLease, TheFirstCallWaitsForItsLease) {
  Bucket bucket;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(bucket.asked, (LeaseRequest{.want = 1}));
  bucket.Grant(1);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

TEST(PermitLease, OneRequestIsUnderWayAtATimeAndCallsWaitForIt) {
  Bucket bucket;
  bucket.Take();
  const auto second = bucket.Take();
  EXPECT_EQ(second.verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(second.request.want, 0);
}

TEST(PermitLease, ABatchThatWasTooSmallIsFollowedByOneForAllThatWait) {
  Bucket bucket;
  for (int i = 0; i < 7; ++i) bucket.Take();
  bucket.Grant(1);
  for (int i = 0; i < 7; ++i) bucket.Take();
  EXPECT_EQ(bucket.asked.want, 6);
}

TEST(PermitLease, AsksForWhatTheLastCallsWouldUseInALease) {
  Bucket bucket;
  bucket.Begin(400);
  bucket.Take(110, kMs);
  EXPECT_EQ(bucket.asked.want, 0);
  bucket.Take(40, kMs);  // Seven tenths of the lease are over.
  EXPECT_NEAR(static_cast<double>(bucket.asked.want), 80, 25);
  // What 50 ms will not use goes back.
  EXPECT_NEAR(static_cast<double>(bucket.asked.refund), 400 - 140 - 27, 15);
}

TEST(PermitLease, AsksAheadAtThreeTenthsOfABatch) {
  Bucket bucket;
  bucket.Begin(100);
  bucket.Take(69, kMs);
  EXPECT_EQ(bucket.asked.want, 0);
  bucket.Take(1, kMs);
  EXPECT_GT(bucket.asked.want, 0);
}

TEST(PermitLease, AShortGrantKeepsTheNextRequestAQuarterOfALeaseAway) {
  Bucket bucket;
  bucket.Begin(0);
  const auto refused = bucket.Take();
  EXPECT_EQ(refused.verdict, Verdict::kRefused);
  EXPECT_EQ(refused.wait, 50 * kMs);
  bucket.now = bucket.now + 49 * kMs;
  EXPECT_EQ(bucket.Take().request.want, 0);
  bucket.now = bucket.now + kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
}

TEST(PermitLease, WaitsAsLongAsTheStoreTells) {
  Bucket bucket;
  bucket.Take();
  bucket.Grant(0, 150 * kMs);
  EXPECT_EQ(bucket.Take().wait, 150 * kMs);
  bucket.now = bucket.now + 149 * kMs;
  EXPECT_EQ(bucket.Take().request.want, 0);
}

TEST(PermitLease, APermitExpiresWithItsLease) {
  Bucket bucket;
  bucket.Begin(50);
  bucket.now = bucket.now + 200 * kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(bucket.asked.refund, 0);
}

TEST(PermitLease, AnUnusedPermitCanBeTakenAgain) {
  Bucket bucket;
  bucket.Begin(1);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
  bucket.lease.Return(bucket.rule, bucket.now);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
  EXPECT_NE(bucket.Take().verdict, Verdict::kAdmitted);
}

TEST(PermitLease, ALookTakesNothing) {
  Bucket bucket;
  bucket.Begin(1);
  EXPECT_EQ(bucket.lease.Check(bucket.rule, bucket.now).verdict, Verdict::kAdmitted);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

// A bucket that used 500 permits a second when its store went away.
Bucket AwayAt500(StoreAway away) {
  Bucket bucket;
  bucket.rule.away = away;
  bucket.Begin(100);
  for (int i = 0; i < 1000; ++i) {
    bucket.Take(1, 2 * kMs);
    if (bucket.asked.want > 0) bucket.Grant(bucket.asked.want);
  }
  while (bucket.asked.want == 0) bucket.Take(1, 2 * kMs);
  bucket.Lose();
  return bucket;
}

// How many calls of the next second are admitted, one per millisecond, while the store is away.
int NextSecond(Bucket& bucket) {
  int given = 0;
  for (int i = 0; i < 1000; ++i) {
    given += bucket.Take(1, kMs);
    if (bucket.asked.want > 0) bucket.Lose();
  }
  return given;
}

TEST(PermitLease, WithoutItsStoreItGoesOnAtItsLastRateAndThenAtItsShare) {
  Bucket bucket = AwayAt500(StoreAway::kLast);
  EXPECT_EQ(bucket.lease.StateAt(bucket.rule, bucket.now), State::kStale);
  NextSecond(bucket);
  EXPECT_NEAR(NextSecond(bucket), 500, 25);
  bucket.now = bucket.now + bucket.rule.grace;
  EXPECT_EQ(bucket.lease.StateAt(bucket.rule, bucket.now), State::kFallback);
  NextSecond(bucket);
  EXPECT_NEAR(NextSecond(bucket), 250, 5);
}

TEST(PermitLease, ANewcomerWithoutAStoreHasItsShareOfTheRateAndOfTheBurstAtOnce) {
  Bucket bucket;
  bucket.Take();
  bucket.Lose();
  EXPECT_EQ(bucket.lease.StateAt(bucket.rule, bucket.now), State::kFallback);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
  EXPECT_NEAR(NextSecond(bucket), 250 + 50, 5);
  EXPECT_NEAR(NextSecond(bucket), 250, 5);
}

// A limit of 100 a second with a burst of 50 that one sidecar has, and a key that is used 50 times
// a second and then not for a while.
class PermitLeaseAfterAPause : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Seconds, PermitLeaseAfterAPause, testing::Values(0, 1, 3, 6, 100));

TEST_P(PermitLeaseAfterAPause, NoCallBelowTheLimitIsRefusedWhereTheStoreGoesAway) {
  Bucket bucket;
  bucket.rule = {.per_second = 100, .burst = 50};
  bucket.Begin(20);
  for (int i = 0; i < 500; ++i) {
    bucket.Take(1, 20 * kMs);
    if (bucket.asked.want > 0) bucket.Grant(bucket.asked.want);
  }
  bucket.now = bucket.now + absl::Seconds(GetParam());
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    Verdict verdict = bucket.Take().verdict;
    if (bucket.asked.want > 0) bucket.Lose(1);
    if (verdict == Verdict::kAwaitsLease) verdict = bucket.Take().verdict;
    refused += verdict != Verdict::kAdmitted;
    bucket.now = bucket.now + 20 * kMs;
  }
  EXPECT_EQ(refused, 0);
}

TEST(PermitLease, TheOnlySidecarHasTheWholeRateAlsoIfItsStoreRefusedCallsAMomentAgo) {
  Bucket bucket;
  bucket.rule = {.per_second = 100, .burst = 50};
  bucket.Begin(50);
  for (int i = 0; i < 90; ++i) {
    bucket.Take(1, absl::Milliseconds(3));
    if (bucket.asked.want > 0) bucket.Grant(0, absl::Milliseconds(10));
  }
  while (bucket.asked.want == 0) bucket.Take(1, absl::Milliseconds(3));
  int given = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (bucket.asked.want > 0) bucket.Lose(1);
    given += bucket.Take(1, kMs);
  }
  EXPECT_NEAR(given, 1000, 60);
}

TEST(PermitLease, SidecarsThatShareALimitAdmitNoMoreThanItWithoutTheirStore) {
  constexpr int kSidecars = 4;
  int given = 0;
  for (int i = 0; i < kSidecars; ++i) {
    Bucket bucket;
    bucket.Take();
    bucket.Lose(kSidecars);
    for (int second = 0; second < 10; ++second) given += NextSecond(bucket);
  }
  EXPECT_LE(given, 200 + 10 * 1000);
  EXPECT_GE(given, 10 * 1000 * 0.98);
}

TEST(PermitLease, ABucketThatHasUsedItsBurstIsForgottenOnlyWhenItHasItAgain) {
  Bucket bucket;
  bucket.rule = {.per_second = 1.0 / 60, .burst = 10};
  bucket.Take();
  bucket.Lose(1);
  EXPECT_EQ(bucket.Take(20, kMs), 10);
  bucket.now = bucket.now + absl::Minutes(9);
  EXPECT_FALSE(bucket.lease.IdleAt(bucket.now));
  EXPECT_TRUE(bucket.lease.IdleAt(bucket.now + absl::Minutes(2)));
}

TEST(PermitLease, WithoutItsStoreItMayAdmitOrRefuseAllCalls) {
  Bucket allow = AwayAt500(StoreAway::kAllow);
  EXPECT_EQ(NextSecond(allow), 1000);
  Bucket deny = AwayAt500(StoreAway::kDeny);
  EXPECT_EQ(NextSecond(deny), 0);
  EXPECT_EQ(deny.lease.StateAt(deny.rule, deny.now), State::kFallback);
}

TEST(PermitLease, NoCallWaitsForAStoreThatIsAway) {
  Bucket bucket = AwayAt500(StoreAway::kDeny);
  bucket.now = bucket.now + 200 * kMs;
  const auto asks = bucket.Take();
  EXPECT_GT(asks.request.want, 0);
  EXPECT_EQ(asks.verdict, Verdict::kRefused);
}

TEST(PermitLease, TheFirstAnswerEndsTheStoresAbsence) {
  Bucket bucket = AwayAt500(StoreAway::kDeny);
  bucket.now = bucket.now + 200 * kMs;
  bucket.Take();
  bucket.Grant(1);
  EXPECT_EQ(bucket.lease.StateAt(bucket.rule, bucket.now), State::kLeased);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

TEST(PermitLease, IsIdleASecondAfterItsLastCall) {
  Bucket bucket;
  bucket.Take();
  bucket.now = bucket.now + absl::Seconds(2);
  EXPECT_FALSE(bucket.lease.IdleAt(bucket.now));  // An answer is to come.
  bucket.Grant(1);
  EXPECT_TRUE(bucket.lease.IdleAt(bucket.now));
  bucket.Take();
  EXPECT_FALSE(bucket.lease.IdleAt(bucket.now + 999 * kMs));
}

TEST(LeaseRule, ALeaseIsTheTimeInWhichTheRateFillsTheBurst) {
  EXPECT_EQ((LeaseRule{.per_second = 1000, .burst = 200}.Lease()), 200 * kMs);
  EXPECT_EQ((LeaseRule{.per_second = 1000, .burst = 1}.Lease()), 50 * kMs);
  EXPECT_EQ((LeaseRule{.per_second = 1, .burst = 100}.Lease()), 500 * kMs);
  EXPECT_EQ((LeaseRule{.per_second = 1000, .burst = 1}.StoreBurst()), 50);
  EXPECT_EQ((LeaseRule{.per_second = 1, .burst = 1}.StoreBurst()), 1);
}

TEST(PermitLease, AsksAgainWhenAnEmptyBucketIsFullWhateverTheStoreSays) {
  Bucket bucket;
  bucket.Take();
  bucket.Grant(0, absl::Hours(24 * 365 * 100));
  bucket.Take();
  EXPECT_EQ(bucket.asked.want, 0);
  bucket.now = bucket.now + absl::Milliseconds(201);  // 200 permits and one at 1000 per second.
  bucket.Take();
  EXPECT_EQ(bucket.asked.want, 1);
}

TEST(PermitLease, HoldsWhatIsLeasedUntilItExpires) {
  Bucket bucket;
  bucket.Begin(10);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, bucket.now).permits_left, 9);
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, bucket.now).own_rate, 0);
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, bucket.now + absl::Seconds(1)).permits_left, 0);
}

TEST(PermitLease, HoldsARateOfItsOwnOnlyWhileTheStoreIsAwayAndCallsCome) {
  Bucket bucket;
  bucket.Begin(100);
  bucket.Take(50, 2 * kMs);
  bucket.now = bucket.now + bucket.rule.Lease();
  bucket.Take();
  bucket.Lose();
  const double stale = bucket.lease.HoldingAt(bucket.rule, bucket.now).own_rate;
  EXPECT_GT(stale, 10);
  EXPECT_LE(stale, 1000);
  const Instant later = bucket.now + bucket.rule.grace;
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, later).own_rate, 0) << "nobody calls";
  bucket.now = later;
  bucket.Take();
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, later).own_rate, 250) << "its share of four";
  bucket.rule.away = StoreAway::kAllow;
  EXPECT_EQ(bucket.lease.HoldingAt(bucket.rule, later).own_rate, 0) << "no rate decides";
}

}  // namespace
}  // namespace levee
