// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_set.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace levee {
namespace {

constexpr EndpointCondition kOpen = {.usable = true, .open = true};
constexpr EndpointCondition kFull = {.usable = true, .open = false};
constexpr EndpointCondition kFailing = {.usable = false, .open = false};

Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

// `size` open endpoints; ids 0, 1, ...
class Endpoints {
 public:
  explicit Endpoints(int size) {
    for (int i = 0; i < size; ++i) set.Add(At(0));
    for (int i = 0; i < size; ++i) set.Update(i, kOpen, At(0));
  }

  // How many of 10,000 choices each one gets.
  std::map<int64_t, int> Choices(Instant now, std::vector<int64_t> avoid = {},
                                 std::vector<int64_t> forbidden = {}) {
    std::map<int64_t, int> counts;
    for (int i = 0; i < 10'000; ++i) {
      ++counts[set.Choose(avoid, forbidden, now, random).value_or(-1)];
    }
    return counts;
  }

  // Five failures in a row; true if they eject it.
  bool Fail(int64_t id, Instant now) {
    bool ejected = false;
    for (int i = 0; i < 5; ++i) {
      ejected = set.RecordEnd(id, false, now + absl::Microseconds(i)) || ejected;
    }
    return ejected;
  }

  EndpointSet set;
  Random random{1};
};

TEST(EndpointSet, WithoutAnOpenEndpointThereIsNoChoice) {
  Endpoints endpoints(2);
  EXPECT_TRUE(endpoints.set.AnyOpen());
  endpoints.set.Update(0, kFull, At(1));
  endpoints.set.Update(1, kFailing, At(1));
  EXPECT_FALSE(endpoints.set.AnyOpen());
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{-1, 10'000}}));
}

TEST(EndpointSet, EqualEndpointsGetEqualShares) {
  Endpoints endpoints(5);
  for (const auto& [id, count] : endpoints.Choices(At(1))) EXPECT_NEAR(count, 2000, 200) << id;
}

TEST(EndpointSet, OfTwoTheOneWithFewerCallsIsTaken) {
  Endpoints endpoints(2);
  endpoints.set.Update(0, {.usable = true, .open = true, .active = 3}, At(1));
  endpoints.set.Update(1, {.usable = true, .open = true, .active = 2}, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{1, 10'000}}));
}

TEST(EndpointSet, AFasterEndpointTakesMoreCallsAtATime) {
  Endpoints endpoints(2);
  endpoints.set.RecordAnswer(0, absl::Milliseconds(1), At(1));
  endpoints.set.RecordAnswer(1, absl::Milliseconds(10), At(1));
  endpoints.set.Update(0, {.usable = true, .open = true, .active = 8}, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{0, 10'000}}));
  endpoints.set.Update(0, {.usable = true, .open = true, .active = 10}, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{1, 10'000}}));
}

TEST(EndpointSet, AnUnknownLatencyIsTakenToBeLikeTheOthers) {
  Endpoints endpoints(2);
  endpoints.set.RecordAnswer(0, absl::Seconds(5), At(1));
  const auto counts = endpoints.Choices(At(1));
  EXPECT_NEAR(counts.at(0), 5000, 300);
  EXPECT_NEAR(counts.at(1), 5000, 300);
}

TEST(EndpointSet, AvoidedEndpointsAreTakenOnlyIfNoOtherIsOpen) {
  Endpoints endpoints(3);
  const auto counts = endpoints.Choices(At(1), {0, 77});
  EXPECT_EQ(counts.count(0), 0u);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_EQ(endpoints.Choices(At(1), {0, 1, 2}).size(), 3u);
  endpoints.set.Update(2, kFull, At(1));
  endpoints.set.Update(1, kFailing, At(1));
  EXPECT_EQ(endpoints.Choices(At(1), {0}), (std::map<int64_t, int>{{0, 10'000}}));
}

TEST(EndpointSet, ForbiddenEndpointsAreNeverTaken) {
  Endpoints endpoints(2);
  EXPECT_EQ(endpoints.Choices(At(1), {}, {0}), (std::map<int64_t, int>{{1, 10'000}}));
  EXPECT_EQ(endpoints.Choices(At(1), {1}, {0}), (std::map<int64_t, int>{{1, 10'000}}));
  EXPECT_EQ(endpoints.Choices(At(1), {}, {0, 1}), (std::map<int64_t, int>{{-1, 10'000}}));
}

TEST(EndpointSet, KnowsWhetherAnotherEndpointIsUsable) {
  Endpoints endpoints(3);
  EXPECT_TRUE(endpoints.set.HasOther(0, std::vector<int64_t>{1}));
  EXPECT_FALSE(endpoints.set.HasOther(0, std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(endpoints.set.HasOther(0, std::vector<int64_t>{0, 1}));
  endpoints.set.Update(2, kFull, At(1));
  EXPECT_TRUE(endpoints.set.HasOther(0, std::vector<int64_t>{1}));
  endpoints.set.Update(2, kFailing, At(1));
  EXPECT_FALSE(endpoints.set.HasOther(0, std::vector<int64_t>{1}));
  EXPECT_TRUE(endpoints.set.AnyUsable(std::vector<int64_t>{1}));
  EXPECT_FALSE(endpoints.set.AnyUsable(std::vector<int64_t>{0, 1}));
}

TEST(EndpointSet, AnIdIsNotUsedAgain) {
  Endpoints endpoints(2);
  endpoints.set.Remove(0);
  const int64_t next = endpoints.set.Add(At(1));
  EXPECT_NE(next, 0);
  EXPECT_NE(next, 1);
  EXPECT_EQ(endpoints.set.size(), 2);
  // Reports about the old endpoint are not taken for the new one.
  endpoints.set.Update(0, kOpen, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{1, 10'000}}));
}

TEST(EndpointSet, AnEjectedEndpointIsNotTaken) {
  Endpoints endpoints(3);
  EXPECT_TRUE(endpoints.Fail(1, At(1)));
  EXPECT_EQ(endpoints.Choices(At(2)).count(1), 0u);
  EXPECT_EQ(endpoints.set.NextReturn(), At(1) + absl::Microseconds(4) + absl::Seconds(30));
}

TEST(EndpointSet, H9_WithoutEjectionNoneIsEjected) {
  EndpointSet set(std::nullopt);
  for (int i = 0; i < 3; ++i) set.Update(set.Add(At(0)), kOpen, At(0));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(set.RecordEnd(1, false, At(i)));
}

TEST(EndpointSet, H9_EjectionGoesByTheNumbersOfItsPolicy) {
  EndpointSet set(EjectionPolicy{.failures = 2, .base = absl::Seconds(7)});
  for (int i = 0; i < 3; ++i) set.Update(set.Add(At(0)), kOpen, At(0));
  EXPECT_FALSE(set.RecordEnd(1, false, At(1)));
  EXPECT_TRUE(set.RecordEnd(1, false, At(2)));
  EXPECT_EQ(set.NextReturn(), At(9));
}

TEST(EndpointSet, NoMoreThanHalfAreEjected) {
  Endpoints one(1);
  EXPECT_FALSE(one.Fail(0, At(1)));
  Endpoints two(2);
  EXPECT_TRUE(two.Fail(0, At(1)));
  EXPECT_FALSE(two.Fail(1, At(2)));
  Endpoints five(5);
  EXPECT_TRUE(five.Fail(0, At(1)));
  EXPECT_TRUE(five.Fail(1, At(2)));
  EXPECT_FALSE(five.Fail(2, At(3)));
}

TEST(EndpointSet, FailingEndpointsCannotTakeTheCallsOfAnEjectedOne) {
  Endpoints endpoints(3);
  endpoints.set.Update(1, kFailing, At(1));
  endpoints.set.Update(2, kFailing, At(1));
  EXPECT_FALSE(endpoints.Fail(0, At(2)));
}

TEST(EndpointSet, AnEjectionEndsWhenTooFewOthersAreLeft) {
  Endpoints endpoints(4);
  EXPECT_TRUE(endpoints.Fail(0, At(1)));
  EXPECT_TRUE(endpoints.Fail(1, At(2)));
  EXPECT_TRUE(endpoints.set.Update(3, kFailing, At(3)));
  const auto ended = endpoints.set.EndEjections(At(3));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0], 0);  // The oldest.
}

TEST(EndpointSet, AnEndpointThatFailsHalfOfItsCallsIsEjected) {
  Endpoints endpoints(3);
  bool ejected = false;
  int attempts = 0;
  for (; !ejected && attempts < 100; ++attempts) {
    const Instant now = At(1 + attempts * 0.01);
    ejected = endpoints.set.RecordEnd(0, attempts % 2 == 0, now);
    EXPECT_FALSE(endpoints.set.RecordEnd(1, true, now));
    EXPECT_FALSE(endpoints.set.RecordEnd(2, attempts % 20 != 0, now));
  }
  EXPECT_TRUE(ejected);
  EXPECT_EQ(attempts, 20);
  EXPECT_EQ(endpoints.Choices(At(3)).count(0), 0u);
}

TEST(EndpointSet, AnEndpointThatAsksForAWaitIsSparedForThatLong) {
  Endpoints endpoints(2);
  endpoints.set.Yield(0, absl::Seconds(5), At(1));
  EXPECT_NEAR(endpoints.Choices(At(5.9)).at(0), 500, 100);
  EXPECT_NEAR(endpoints.Choices(At(6)).at(0), 5000, 300);
  // The only endpoint takes all calls all the same.
  Endpoints one(1);
  one.set.Yield(0, absl::Seconds(5), At(1));
  EXPECT_EQ(one.Choices(At(2)).at(0), 10'000);
}

TEST(EndpointSet, AnIdleEndpointThatWasSlowOnceGetsCallsAgainWithinSeconds) {
  Endpoints endpoints(2);
  for (int i = 0; i < 100; ++i) {
    for (const int64_t id : {0, 1}) {
      endpoints.set.RecordAnswer(id, absl::Milliseconds(1), At(1 + i * 0.1));
    }
  }
  endpoints.set.RecordAnswer(0, absl::Seconds(1), At(12));
  Instant now = At(12);
  for (int64_t chosen = 1; chosen == 1 && now < At(60);) {
    now = now + absl::Milliseconds(20);
    chosen = endpoints.set.Choose({}, {}, now, endpoints.random).value();
    endpoints.set.RecordAnswer(chosen, absl::Milliseconds(1), now);
  }
  EXPECT_LT(now, At(14));
}

TEST(EndpointSet, AnEndpointThatReturnsGetsAGrowingShare) {
  Endpoints endpoints(2);
  ASSERT_TRUE(endpoints.Fail(0, At(1)));
  EXPECT_TRUE(endpoints.set.EndEjections(At(30)).empty());
  EXPECT_EQ(endpoints.set.EndEjections(At(32)).size(), 1u);
  EXPECT_NEAR(endpoints.Choices(At(32)).at(0), 500, 100);
  EXPECT_NEAR(endpoints.Choices(At(37)).at(0), 2500, 300);
  EXPECT_NEAR(endpoints.Choices(At(42)).at(0), 5000, 300);
}

TEST(EndpointSet, AnEndpointThatConnectsAgainGetsAGrowingShare) {
  Endpoints endpoints(2);
  endpoints.set.Update(1, kFailing, At(1));
  endpoints.set.Update(1, kOpen, At(2));
  EXPECT_NEAR(endpoints.Choices(At(2)).at(1), 500, 100);
}

TEST(EndpointSet, AnEndpointThatJoinsOthersGetsAGrowingShare) {
  Endpoints endpoints(1);
  const int64_t id = endpoints.set.Add(At(1));
  endpoints.set.Update(id, kFull, At(1));
  endpoints.set.Update(id, kOpen, At(2));
  EXPECT_NEAR(endpoints.Choices(At(2)).at(id), 500, 100);
}

}  // namespace
}  // namespace levee
