// SPDX-License-Identifier: Apache-2.0
// One bucket of a limit that a service keeps: which calls begin, when the service is asked, and for
// how much.
#include "policy/service_lease.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

using Verdict = LeaseVerdict;

// A bucket with leases of 100 ms, and its clock.
struct ServiceBucket {
  LeaseDecision Take() {
    const LeaseDecision decision = lease.Take(rule, now);
    if (decision.request.want > 0) asked = decision.request.want;
    return decision;
  }

  // Calls once per `gap`; what is asked for is granted. Returns how many were admitted.
  int Take(int calls, absl::Duration gap, const ServiceWindow& window = {}) {
    int given = 0;
    for (int i = 0; i < calls; ++i) {
      while (Take().verdict == Verdict::kAwaitsLease) Grant(asked, window);
      ++given;
      if (asked > 0) Grant(asked, window);
      now = now + gap;
    }
    return given;
  }

  void Grant(int64_t granted, const ServiceWindow& window = {}) {
    asked = 0;
    lease.OnGrant(rule, {.granted = granted, .window = window}, now);
  }
  void Refuse(const ServiceWindow& window = {}) { Grant(0, window); }
  void Lose() {
    asked = 0;
    lease.OnLost(rule, 1, now);
  }

  ServiceRule rule;
  ServiceLease lease;
  Instant now = Instant() + absl::Seconds(100);
  int64_t asked = 0;  // since the last answer
};

TEST(ServiceLease, TheFirstCallWaitsForItsPermit) {
  ServiceBucket bucket;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(bucket.asked, 1);
  bucket.Grant(1);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

TEST(ServiceLease, ABucketWithACallNowAndThenAsksForOnePermitPerCall) {
  ServiceBucket bucket;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease) << i;
    EXPECT_EQ(bucket.asked, 1) << i;
    bucket.now = bucket.now + 30 * kMs;
    bucket.Grant(1, {.limit = 100, .remaining = 99, .resets_in = absl::Seconds(60)});
    EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted) << i;
    EXPECT_EQ(bucket.asked, 0) << i;  // A permit ahead might be lost.
    bucket.now = bucket.now + absl::Seconds(2);
  }
}

TEST(ServiceLease, OneRequestIsUnderWayAtATimeAndCallsWaitForIt) {
  ServiceBucket bucket;
  bucket.Take();
  const LeaseDecision second = bucket.Take();
  EXPECT_EQ(second.verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(second.request.want, 0);
}

TEST(ServiceLease, ABusyBucketAsksAheadForWhatALeaseUses) {
  ServiceBucket bucket;
  bucket.Take(1000, kMs);
  int64_t asked = 0;
  for (int i = 0; i < 100 && asked == 0; ++i) {
    EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);  // It never waits.
    asked = bucket.asked;
    bucket.now = bucket.now + kMs;
  }
  EXPECT_NEAR(static_cast<double>(asked), 70, 15);
}

TEST(ServiceLease, AsksForNoMoreThanAPartOfWhatTheWindowHasLeft) {
  const ServiceWindow window{.limit = 1000, .remaining = 80, .resets_in = absl::Seconds(30)};
  ServiceBucket bucket;
  bucket.Take(1000, kMs, window);
  int64_t asked = 0;
  for (int i = 0; i < 100 && asked == 0; ++i) {
    bucket.Take();
    asked = bucket.asked;
  }
  EXPECT_EQ(asked, 10);
  bucket.Grant(asked, window);
  bucket.now = bucket.now + absl::Seconds(31);  // The next window has them all.
  for (int i = 0; i < 200; ++i) bucket.Take();
  EXPECT_EQ(bucket.asked, 1);
  bucket.Grant(1);
}

TEST(ServiceLease, OverTheLimitHoldsUntilTheWindowEnds) {
  ServiceBucket bucket;
  bucket.Take();
  bucket.Refuse({.limit = 10, .remaining = 0, .resets_in = absl::Seconds(30)});
  EXPECT_EQ(bucket.Take().wait, absl::Seconds(30));
  bucket.now = bucket.now + absl::Seconds(29) - kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kRefused);
  EXPECT_EQ(bucket.asked, 0);
}

TEST(ServiceLease, TheSecondThatATimeWasRoundedByIsSpentAsking) {
  const ServiceWindow full{.limit = 10, .remaining = 0, .resets_in = absl::Seconds(1)};
  ServiceBucket bucket;
  bucket.Take();
  bucket.Refuse(full);
  bucket.now = bucket.now + 99 * kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kRefused);
  bucket.now = bucket.now + kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(bucket.asked, 1);
  bucket.Refuse(full);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kRefused);
}

TEST(ServiceLease, APermitCanBeUsedUntilItsWindowEnds) {
  ServiceBucket bucket;
  bucket.Take();
  bucket.Grant(1, {.limit = 10, .remaining = 9, .resets_in = absl::Seconds(30)});
  bucket.now = bucket.now + absl::Seconds(29);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

TEST(ServiceLease, WithoutAWindowAPermitCanBeUsedForALease) {
  ServiceBucket bucket;
  bucket.Take();
  bucket.Grant(1);
  bucket.now = bucket.now + 100 * kMs;
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
}

TEST(ServiceLease, AServiceThatTellsNothingIsAskedForLessAfterItRefused) {
  ServiceBucket bucket;
  for (int i = 0; i < 40; ++i) bucket.Take();
  bucket.Grant(1);
  for (int i = 0; i < 40; ++i) bucket.Take();
  EXPECT_EQ(bucket.asked, 4);
  bucket.Grant(4);
  for (int i = 0; i < 39; ++i) bucket.Take();
  EXPECT_EQ(bucket.asked, 16);
  bucket.Refuse();
  for (int i = 0; i < 39; ++i) EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  EXPECT_EQ(bucket.asked, 8);
  bucket.Refuse();
  bucket.Take();
  EXPECT_EQ(bucket.asked, 4);
}

TEST(ServiceLease, WithoutAnAnswerCallsAreAdmittedOrRefusedAtOnce) {
  for (const bool admits : {true, false}) {
    ServiceBucket bucket;
    bucket.rule.admits_when_away = admits;
    bucket.Take();
    bucket.Lose();
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(bucket.Take().verdict, admits ? Verdict::kAdmitted : Verdict::kRefused);
      if (bucket.asked > 0) bucket.Lose();
      bucket.now = bucket.now + kMs;
    }
    bucket.now = bucket.now + 100 * kMs;
    bucket.Take();
    EXPECT_EQ(bucket.asked, 1);
    bucket.Grant(1);
    EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
    EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
  }
}

TEST(ServiceLease, WithoutAnAnswerItAsksOncePerLease) {
  ServiceBucket bucket;
  int requests = 0;
  for (int i = 0; i < 1000; ++i) {
    bucket.Take();
    if (bucket.asked > 0) {
      ++requests;
      bucket.Lose();
    }
    bucket.now = bucket.now + kMs;
  }
  EXPECT_NEAR(requests, 10, 2);
}

TEST(ServiceLease, AnUnusedPermitCanBeTakenAgain) {
  ServiceBucket bucket;
  bucket.Take();
  bucket.Grant(1);
  bucket.Take();
  bucket.lease.Return(bucket.rule, bucket.now);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAwaitsLease);
}

TEST(ServiceLease, ALookTakesNothing) {
  ServiceBucket bucket;
  bucket.Take();
  bucket.Grant(1);
  EXPECT_EQ(bucket.lease.Check(bucket.rule, bucket.now).verdict, Verdict::kAdmitted);
  EXPECT_EQ(bucket.Take().verdict, Verdict::kAdmitted);
}

}  // namespace
}  // namespace levee
