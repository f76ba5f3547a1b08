// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_set.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "policy/times.h"

namespace levee {
namespace {

constexpr EndpointCondition kOpen = {.usable = true, .open = true};
constexpr EndpointCondition kFull = {.usable = true, .open = false};
constexpr EndpointCondition kFailing = {.usable = false, .open = false};

// A call there is answered after `latency`, and ends.
void Answer(EndpointSet& set, int64_t id, absl::Duration latency, Instant now) {
  set.RecordLife(id, now);
  set.RecordLatency(id, latency, now);
}

// `size` open endpoints; ids 0, 1, ...
class Endpoints {
 public:
  explicit Endpoints(int size) {
    for (int i = 0; i < size; ++i) set.Add();
    for (int i = 0; i < size; ++i) set.Update(i, kOpen, At(0));
  }

  // How many of 10,000 choices each one gets.
  std::map<int64_t, int> Choices(Instant now, std::vector<int64_t> avoid = {},
                                 std::vector<int64_t> forbidden = {}) {
    std::map<int64_t, int> counts;
    for (int i = 0; i < 10'000; ++i) {
      ++counts[set.Choose(avoid, forbidden, {.repeatable = true}, now, random).value_or(-1)];
    }
    return counts;
  }

  // Attempts that go there and end.
  void Serve(int64_t id, int attempts, bool success, Instant now) {
    for (int i = 0; i < attempts; ++i) set.RecordEnd(id, success, now + absl::Microseconds(i));
  }

  // The endpoints that are ejected, of what has changed since this was last asked.
  std::vector<int64_t> Ejected() {
    for (const EndpointSet::Change& change : set.TakeChanges()) {
      if (change.ejected) {
        ejected.insert(change.id);
      } else {
        ejected.erase(change.id);
      }
    }
    return {ejected.begin(), ejected.end()};
  }

  std::set<int64_t> ejected;
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
  Answer(endpoints.set, 0, absl::Milliseconds(1), At(1));
  Answer(endpoints.set, 1, absl::Milliseconds(10), At(1));
  endpoints.set.Update(0, {.usable = true, .open = true, .active = 8}, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{0, 10'000}}));
  endpoints.set.Update(0, {.usable = true, .open = true, .active = 10}, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{1, 10'000}}));
}

TEST(EndpointSet, AnUnknownLatencyIsTakenToBeLikeTheOthers) {
  Endpoints endpoints(2);
  Answer(endpoints.set, 0, absl::Seconds(5), At(1));
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
  endpoints.set.Remove(0, At(1));
  const int64_t next = endpoints.set.Add();
  EXPECT_NE(next, 0);
  EXPECT_NE(next, 1);
  EXPECT_EQ(endpoints.set.size(), 2);
  // Reports about the old endpoint are not taken for the new one.
  endpoints.set.Update(0, kOpen, At(1));
  EXPECT_EQ(endpoints.Choices(At(1)), (std::map<int64_t, int>{{1, 10'000}}));
}

using Ids = std::vector<int64_t>;

TEST(EndpointSet, AnEndpointThatOnlyFailsIsEjectedAndGetsFewCalls) {
  Endpoints endpoints(3);
  endpoints.Serve(0, 20, true, At(1));
  endpoints.Serve(1, 4, false, At(1));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
  endpoints.Serve(1, 1, false, At(1));
  EXPECT_EQ(endpoints.Ejected(), Ids{1});
  EXPECT_LT(endpoints.Choices(At(1.5))[1], 2);
}

TEST(EndpointSet, HoweverManyFailTheyAreEjectedAsLongAsOneServes) {
  Endpoints endpoints(10);
  endpoints.Serve(0, 20, true, At(1));
  for (int64_t id = 1; id < 10; ++id) endpoints.Serve(id, 5, false, At(1));
  EXPECT_EQ(endpoints.Ejected().size(), 9u);
  EXPECT_GT(endpoints.Choices(At(1.5))[0], 9'990);
}

TEST(EndpointSet, WhereAllFailNoneIsEjected) {
  Endpoints endpoints(3);
  for (int i = 0; i < 100; ++i) endpoints.Serve(i % 3, 1, false, At(1 + 0.01 * i));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
}

TEST(EndpointSet, WhenTheLastGoodOneFailsTooThoseEjectedReturn) {
  Endpoints endpoints(3);
  endpoints.Serve(0, 20, true, At(1));
  for (const int64_t id : {1, 2}) endpoints.Serve(id, 5, false, At(1));
  EXPECT_EQ(endpoints.Ejected(), (Ids{1, 2}));
  for (int i = 0; i < 60; ++i) endpoints.Serve(0, 1, false, At(2 + 0.1 * i));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
}

TEST(EndpointSet, WhenTheLastGoodOneCannotBeReachedThoseEjectedReturn) {
  Endpoints endpoints(2);
  endpoints.Serve(0, 20, true, At(1));
  endpoints.Serve(1, 5, false, At(1));
  EXPECT_EQ(endpoints.Ejected(), Ids{1});
  EXPECT_TRUE(endpoints.set.Update(0, kFailing, At(2)));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
  EXPECT_EQ(endpoints.Choices(At(2)), (std::map<int64_t, int>{{1, 10'000}}));
}

TEST(EndpointSet, H9_WithoutEjectionNoneIsEjected) {
  EndpointSet set(std::nullopt);
  for (int i = 0; i < 3; ++i) set.Update(set.Add(), kOpen, At(0));
  set.RecordEnd(0, true, At(0));
  for (int i = 0; i < 100; ++i) set.RecordEnd(1, false, At(i));
  EXPECT_FALSE(set.changed());
}

TEST(EndpointSet, H9_EjectionGoesByTheNumbersOfItsPolicy) {
  EndpointSet set(EjectionPolicy{.failures = 2});
  for (int i = 0; i < 3; ++i) set.Update(set.Add(), kOpen, At(0));
  set.RecordEnd(0, true, At(1));
  set.RecordEnd(1, false, At(1));
  EXPECT_FALSE(set.changed());
  set.RecordEnd(1, false, At(2));
  EXPECT_TRUE(set.changed());
}

TEST(EndpointSet, AnEndpointThatFailsHalfOfItsCallsIsEjected) {
  Endpoints endpoints(3);
  int attempts = 0;
  while (endpoints.Ejected().empty() && attempts < 200) {
    const Instant now = At(1 + attempts * 0.01);
    endpoints.set.RecordEnd(0, attempts % 2 == 0, now);
    endpoints.set.RecordEnd(1, true, now);
    endpoints.set.RecordEnd(2, attempts % 20 != 0, now);
    ++attempts;
  }
  EXPECT_EQ(endpoints.Ejected(), Ids{0});
  EXPECT_LT(attempts, 40);
}

TEST(EndpointSet, OneCallASecondLooksAtAnEjectedEndpointAndThreeGoodOnesEndIt) {
  Endpoints endpoints(2);
  endpoints.Serve(0, 20, true, At(1));
  endpoints.Serve(1, 5, false, At(1));
  int looks = 0;
  for (int i = 0; i < 40 && !endpoints.Ejected().empty(); ++i) {
    const Instant now = At(2 + i);
    const int64_t chosen =
        endpoints.set.Choose({}, {}, {.repeatable = true}, now, endpoints.random).value();
    endpoints.set.RecordEnd(chosen, true, now);
    looks += chosen == 1 ? 1 : 0;
  }
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(endpoints.Ejected(), Ids{});
}

TEST(EndpointSet, ACallThatCannotBeRepeatedLooksOnlyIfNoOtherHasDoneIt) {
  Endpoints endpoints(2);
  endpoints.Serve(0, 20, true, At(1));
  endpoints.Serve(1, 5, false, At(1));
  const auto choose = [&](bool repeatable, double at) {
    return endpoints.set.Choose({}, {}, {.repeatable = repeatable}, At(at), endpoints.random)
        .value();
  };
  // The pause is 4 s after five failures.
  EXPECT_EQ(choose(true, 4.9), 0);
  EXPECT_EQ(choose(false, 5.1), 0);
  EXPECT_EQ(choose(true, 5.2), 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(true, 5.3), 0);
  EXPECT_EQ(choose(false, 9.3), 0);
  EXPECT_EQ(choose(false, 13.5), 1);
}

// Of three the last is ejected, and the others have no room for its calls, at 4 s.
Endpoints WithoutRoom() {
  Endpoints endpoints(3);
  for (const int64_t id : {0, 1}) {
    for (int i = 0; i < 50; ++i) Answer(endpoints.set, id, absl::Milliseconds(10), At(1));
    endpoints.Serve(id, 20, true, At(1));
  }
  endpoints.Serve(2, 5, false, At(1));
  // Answers take ten times as long as before.
  for (int i = 0; i < 200; ++i) {
    Answer(endpoints.set, i % 2, absl::Milliseconds(100), At(2 + 0.01 * i));
  }
  for (const int64_t id : {0, 1}) {
    endpoints.set.Update(id, kOpen, At(3.99));
    endpoints.set.Update(id, {.usable = true, .open = true, .active = 4}, At(4));
  }
  return endpoints;
}

TEST(EndpointSet, TheOthersGetTheCallsOfAnEjectedOneOnlyWhileTheyHaveRoom) {
  EXPECT_NEAR(WithoutRoom().Choices(At(4))[2], 3'333, 300);
}

TEST(EndpointSet, ARetryForWhichTheOthersHaveNoRoomDoesNotGoBackToWhereItFailed) {
  Endpoints endpoints = WithoutRoom();
  const int64_t failed[] = {2};
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_NE(endpoints.set.Choose(failed, {}, {}, At(4), endpoints.random), 2);
  }
}

TEST(EndpointSet, CallsForWhichTheOthersHaveNoRoomDoNotGoToOneThatIsSilent) {
  Endpoints endpoints = WithoutRoom();
  endpoints.set.Update(2, {.usable = true, .open = true, .silent = true}, At(4));
  EXPECT_EQ(endpoints.Choices(At(4))[2], 0);
}

TEST(EndpointSet, AnEndpointThatOwesAnAnswerForASecondIsEjectedAndReturnsWithASignOfLife) {
  Endpoints endpoints(2);
  while (endpoints.set.Choose({}, {}, {.repeatable = true}, At(1), endpoints.random) != 1) continue;
  endpoints.set.Update(1, {.usable = true, .open = true, .active = 1}, At(1));
  Answer(endpoints.set, 0, absl::Milliseconds(1), At(2));
  endpoints.Choices(At(1.9));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
  endpoints.Choices(At(2.1));
  EXPECT_EQ(endpoints.Ejected(), Ids{1});
  EXPECT_EQ(endpoints.Choices(At(32)).count(1), 0u);
  EXPECT_GT(endpoints.Choices(At(32.2))[1], 0);
  endpoints.set.RecordLife(1, At(33));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
}

// The pauses, of ten seconds and more, between the calls that an endpoint gets which answers
// nothing. There is a call each second; another endpoint answers.
std::vector<int> PausesOfOneThatAnswersNothing() {
  Endpoints endpoints(2);
  EndpointSet& set = endpoints.set;
  std::vector<int> pauses;
  int last = 1;
  for (int second = 1; second < 1200; ++second) {
    const int64_t id = *set.Choose({}, {}, {.repeatable = true}, At(second), endpoints.random);
    set.Update(id, {.usable = true, .open = true, .active = 1}, At(second));
    if (id == 1) Answer(set, id, absl::Milliseconds(10), At(second + 0.9));
    set.RecordEnd(id, id == 1, At(second + 0.9));
    set.Update(id, kOpen, At(second + 0.9));
    if (id == 1) continue;
    if (second - last >= 10) pauses.push_back(second - last);
    last = second;
  }
  return pauses;
}

TEST(EndpointSet, LooksAtAnEndpointThatAnswersNothingComeAfterTwiceAsLongEachTime) {
  const std::vector<int> pauses = PausesOfOneThatAnswersNothing();
  ASSERT_EQ(pauses.size(), 6u) << testing::PrintToString(pauses);
  EXPECT_NEAR(pauses[0], 32, 3);
  EXPECT_EQ(std::vector(pauses.begin() + 1, pauses.end()),
            (std::vector<int>{60, 120, 240, 300, 300}));
}

// Its call has failed by a deadline, which is no quick failure.
TEST(EndpointSet, AnEndpointThatHasOwedAnAnswerForASecondGetsNoLookAtOnce) {
  Endpoints endpoints(2);
  EndpointSet& set = endpoints.set;
  while (set.Choose({}, {}, {.repeatable = true}, At(1), endpoints.random) != 0) {
  }
  set.Update(0, {.usable = true, .open = true, .active = 1}, At(1));
  set.RecordEnd(0, false, At(3));
  set.Update(0, kOpen, At(3));
  Answer(set, 1, absl::Milliseconds(10), At(3.5));
  EXPECT_EQ(endpoints.Choices(At(5))[0], 0);
}

TEST(EndpointSet, WhenAnotherEndpointGoesOneThatIsSilentStaysEjected) {
  Endpoints endpoints(3);
  while (endpoints.set.Choose({}, {}, {.repeatable = true}, At(1), endpoints.random) != 1) continue;
  endpoints.set.Update(1, {.usable = true, .open = true, .active = 1}, At(1));
  for (const int64_t id : {0, 2}) Answer(endpoints.set, id, absl::Milliseconds(1), At(2));
  endpoints.Choices(At(2.1));
  EXPECT_EQ(endpoints.Ejected(), Ids{1});
  endpoints.set.Remove(2, At(3));
  EXPECT_EQ(endpoints.Ejected(), Ids{1});
}

TEST(EndpointSet, AnEndpointWhoseKernelIsSilentGetsNoCallsWhileOthersLive) {
  Endpoints endpoints(2);
  while (endpoints.set.Choose({}, {}, {.repeatable = true}, At(1), endpoints.random) != 1) continue;
  Answer(endpoints.set, 0, absl::Milliseconds(1), At(1.1));
  endpoints.set.Update(1, {.usable = true, .open = true, .silent = true, .active = 1}, At(2));
  EXPECT_EQ(endpoints.Choices(At(2)), (std::map<int64_t, int>{{0, 10'000}}));
  EXPECT_EQ(endpoints.Choices(At(100)), (std::map<int64_t, int>{{0, 10'000}}));
  Answer(endpoints.set, 0, absl::Milliseconds(1), At(101));
  // What was owed then may never be answered.
  endpoints.set.Update(1, {.usable = true, .open = true, .silent = false, .active = 1}, At(101));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
  EXPECT_GT(endpoints.Choices(At(101))[1], 0);
  EXPECT_EQ(endpoints.Ejected(), Ids{});
}

TEST(EndpointSet, AnEndpointWhoseKernelIsSilentGetsCallsWhereNoOtherLives) {
  Endpoints endpoints(2);
  endpoints.set.Update(0, kFailing, At(1));
  endpoints.set.Update(1, {.usable = true, .open = true, .silent = true, .active = 1}, At(2));
  EXPECT_EQ(endpoints.Choices(At(2)), (std::map<int64_t, int>{{1, 10'000}}));
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
      Answer(endpoints.set, id, absl::Milliseconds(1), At(1 + i * 0.1));
    }
  }
  Answer(endpoints.set, 0, absl::Seconds(1), At(12));
  Instant now = At(12);
  for (int64_t chosen = 1; chosen == 1 && now < At(60);) {
    now = now + absl::Milliseconds(20);
    chosen = endpoints.set.Choose({}, {}, {.repeatable = true}, now, endpoints.random).value();
    Answer(endpoints.set, chosen, absl::Milliseconds(1), now);
  }
  EXPECT_LT(now, At(14));
}

TEST(EndpointSet, AnEndpointThatReturnsGetsAGrowingShare) {
  Endpoints endpoints(2);
  endpoints.Serve(1, 20, true, At(1));
  endpoints.Serve(0, 5, false, At(1));
  endpoints.Serve(0, 3, true, At(32));
  EXPECT_EQ(endpoints.Ejected(), Ids{});
  endpoints.set.Update(0, kOpen, At(32));
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
  const int64_t id = endpoints.set.Add();
  endpoints.set.Update(id, kFull, At(1));
  endpoints.set.Update(id, kOpen, At(2));
  EXPECT_NEAR(endpoints.Choices(At(2)).at(id), 500, 100);
}

}  // namespace
}  // namespace levee
