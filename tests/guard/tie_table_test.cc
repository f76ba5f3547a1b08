// SPDX-License-Identifier: Apache-2.0
#include "guard/tie_table.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "guard/times.h"

namespace levee {
namespace {

constexpr TraceNumber kTrace = 0x123456789abc;
const Instant kNever = Instant::Infinite();

OverloadMark MarkOf(const std::string& upstream, int hops = 1) {
  return {.reason = "queue", .upstream = upstream, .hops = hops};
}

TEST(TieTable, FindsAServedCallAsLongAsItIsServed) {
  TieTable table(100);
  EXPECT_FALSE(table.Find(kTrace, kStart).has_value());
  const TieTable::Place place = table.Enter(kTrace, kStart + absl::Seconds(1), "3", kStart);
  ASSERT_TRUE(place);
  const auto served = table.Find(kTrace, kStart);
  ASSERT_TRUE(served.has_value());
  EXPECT_FALSE(served->gone);
  EXPECT_EQ(served->deadline, kStart + absl::Seconds(1));
  EXPECT_EQ(served->priority, "3");
  EXPECT_FALSE(table.Find(kTrace + 1, kStart).has_value());
  EXPECT_EQ(table.Leave(place, std::nullopt, kStart), std::nullopt);
  EXPECT_FALSE(table.Find(kTrace, kStart).has_value());
}

TEST(TieTable, KeepsAPriorityOfAnyLengthThatFits) {
  TieTable table(8);
  for (size_t size = 0; size <= TieTable::kMaxPriority + 1; ++size) {
    const std::string text = std::string(size, 'p').replace(0, size > 0, "1");
    const TieTable::Place place = table.Enter(kTrace, kNever, text, kStart);
    EXPECT_EQ(table.Find(kTrace, kStart)->priority, size <= TieTable::kMaxPriority ? text : "");
    table.Leave(place, std::nullopt, kStart);
  }
}

TEST(TieTable, GivesTheMarkToEveryServedCallOfTheTraceAndToNoOther) {
  TieTable table(100);
  const TieTable::Place first = table.Enter(kTrace, kNever, "", kStart);
  const TieTable::Place second = table.Enter(kTrace, kNever, "", kStart);
  const TieTable::Place other = table.Enter(kTrace + 1, kNever, "", kStart);
  EXPECT_TRUE(table.Mark(kTrace, MarkOf("cart", 2)));
  EXPECT_TRUE(table.Mark(kTrace, MarkOf("stock", 4)));
  EXPECT_FALSE(table.Mark(kTrace + 2, MarkOf("cart")));
  for (const TieTable::Place place : {first, second}) {
    const auto mark = table.Leave(place, std::nullopt, kStart);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->upstream, "stock");
    EXPECT_EQ(mark->hops, 4);
  }
  EXPECT_EQ(table.Leave(other, std::nullopt, kStart), std::nullopt);
  // The next call that has the same place has nothing of it.
  const TieTable::Place next = table.Enter(kTrace, kNever, "", kStart);
  EXPECT_EQ(next.index, first.index);
  EXPECT_EQ(table.Leave(next, std::nullopt, kStart), std::nullopt);
}

TEST(TieTable, RemembersForTenSecondsThatACallerHasGone) {
  TieTable table(8);
  const TieTable::Place place = table.Enter(kTrace, kNever, "", kStart);
  table.Leave(place, kStart, kStart);
  const auto served = table.Find(kTrace, kStart + TieTable::kGoneKept - absl::Nanoseconds(1));
  ASSERT_TRUE(served.has_value());
  EXPECT_TRUE(served->gone);
  EXPECT_EQ(served->deadline, kStart);
  EXPECT_FALSE(table.Find(kTrace, kStart + TieTable::kGoneKept).has_value());
  EXPECT_FALSE(table.Mark(kTrace, MarkOf("cart")));
}

TEST(TieTable, ATraceIsGoneOnlyWhenAllItsCallersAre) {
  TieTable table(8);
  const TieTable::Place gone = table.Enter(kTrace, kStart + absl::Seconds(9), "", kStart);
  const TieTable::Place stays = table.Enter(kTrace, kStart + absl::Seconds(2), "", kStart);
  table.Leave(gone, kStart, kStart);
  EXPECT_FALSE(table.Find(kTrace, kStart)->gone);
  EXPECT_EQ(table.Find(kTrace, kStart)->deadline, kStart + absl::Seconds(2));
  table.Leave(stays, kStart + absl::Seconds(1), kStart);
  EXPECT_TRUE(table.Find(kTrace, kStart)->gone);
  EXPECT_EQ(table.Find(kTrace, kStart)->deadline, kStart + absl::Seconds(1));
}

TEST(TieTable, HasAsManyPlacesAsItSays) {
  TieTable table(16);
  std::vector<TieTable::Place> places;
  TraceNumber trace = 2;
  for (int tries = 0; tries < 1000; ++tries) {
    const TieTable::Place place = table.Enter(trace++, kNever, "", kStart);
    if (place) places.push_back(place);
  }
  EXPECT_EQ(places.size(), 16u);
  EXPECT_FALSE(table.Enter(kTrace, kNever, "", kStart));
  for (const TieTable::Place place : places) table.Leave(place, std::nullopt, kStart);
  EXPECT_TRUE(table.Enter(kTrace, kNever, "", kStart));
}

TEST(TieTable, CallersThatOpenCallsOnlyToLeaveTakeNoPlaceFromOthers) {
  TieTable table(64);
  const TieTable::Place served = table.Enter(kTrace, kNever, "", kStart);
  Instant now = kStart;
  for (TraceNumber trace = 2; trace < 100'000; ++trace) {
    const TieTable::Place place = table.Enter(trace, kNever, "", now);
    ASSERT_TRUE(place) << trace;
    table.Leave(place, now, now);
    now = now + absl::Microseconds(10);
  }
  EXPECT_TRUE(table.Enter(kTrace + 1, kNever, "", now));
  ASSERT_TRUE(table.Find(kTrace, now).has_value());
  EXPECT_FALSE(table.Find(kTrace, now)->gone);
  table.Leave(served, std::nullopt, now);
}

TEST(TieTable, TheOneThatIsRememberedLongestGivesItsPlaceUp) {
  TieTable table(8);
  Instant now = kStart;
  for (TraceNumber trace = 10; trace < 18; ++trace) {
    table.Leave(table.Enter(trace, kNever, "", now), now, now);
    now = now + absl::Milliseconds(1);
  }
  EXPECT_TRUE(table.Enter(kTrace, kNever, "", now));
  EXPECT_FALSE(table.Find(10, now).has_value());
  EXPECT_TRUE(table.Find(11, now)->gone);
}

// Azar and others: with two sets of eight to choose from, most places are taken before both are
// full.
TEST(TieTable, IsThreeQuartersFullBeforeACallFindsNoPlace) {
  TieTable table(10'000);
  Random random(1);
  int taken = 0;
  while (table.Enter(random.Next() >> 16, kNever, "", kStart)) ++taken;
  EXPECT_GT(taken, 7000);
}

TEST(TieTable, TracesHaveNumbersOfTheirOwnThatDependOnTheSeed) {
  EXPECT_EQ(NumberOfTrace("a", 1), NumberOfTrace("a", 1));
  EXPECT_NE(NumberOfTrace("a", 1), NumberOfTrace("b", 1));
  EXPECT_NE(NumberOfTrace("a", 1), NumberOfTrace("a", 2));
}

TEST(TieTable, ThreadsNeverSeeThePriorityOfAnotherTrace) {
  TieTable table(8);  // one set, so that they meet
  std::atomic<int> mixed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const TraceNumber own = static_cast<TraceNumber>(2 + thread / 2);  // two threads share one
      const std::string priority(40, own == 2 ? '2' : '3');
      for (int i = 0; i < 5000; ++i) {
        const TieTable::Place place = table.Enter(own, kNever, priority, kStart);
        ASSERT_TRUE(place);
        if (table.Find(own, kStart)->priority != priority) ++mixed;
        if (i % 3 == 0) table.Mark(own, MarkOf(priority));
        const auto mark = table.Leave(place, std::nullopt, kStart);
        if (mark.has_value() && mark->upstream != priority) ++mixed;
        const auto other = table.Find(5 - own, kStart);
        if (other.has_value() && other->priority == priority) ++mixed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_FALSE(table.Find(2, kStart).has_value());
}

}  // namespace
}  // namespace levee
