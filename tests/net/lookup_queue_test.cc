// SPDX-License-Identifier: Apache-2.0
#include "net/lookup_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace levee::net {
namespace {

using Member = LookupQueue::Member;

class LookupQueueTest : public testing::Test {
 protected:
  // Adds `count` look-ups for `asker`.
  void Add(Asker asker, int count) {
    for (int i = 0; i < count; ++i) queue.Add(members.emplace_back(asker));
  }

  // Starts all that may run; returns them.
  std::vector<Member*> Start() {
    std::vector<Member*> started;
    while (Member* next = queue.Next()) started.push_back(next);
    return started;
  }

  std::deque<Member> members;
  LookupQueue queue;
};

TEST_F(LookupQueueTest, RunsASmallNumberAtATime) {
  Add(kKnownName, 1000);
  const auto first = Start();
  EXPECT_EQ(first.size(), size_t{LookupQueue::kMaxRunning});
  queue.End(*first[0]);
  EXPECT_EQ(Start().size(), 1u);
}

TEST_F(LookupQueueTest, ACallerHasNoMoreThanItsShare) {
  Add(/*asker=*/1, 900);
  const auto first = Start();
  EXPECT_EQ(first.size(), size_t{LookupQueue::kMaxOfOneCaller});
  for (Member* each : first) queue.End(*each);
  EXPECT_EQ(Start().size(), size_t{LookupQueue::kMaxOfOneCaller});
}

TEST_F(LookupQueueTest, KnownNamesRunWhateverNewOnesAreAskedFor) {
  for (Asker asker = 1; asker <= 100; ++asker) Add(asker, 100);
  EXPECT_EQ(Start().size(), size_t{LookupQueue::kMaxOfNewNames});
  Add(kKnownName, 10);
  EXPECT_EQ(Start().size(), 10u);
}

TEST_F(LookupQueueTest, CallersTakeTurns) {
  for (Asker asker = 1; asker <= 100; ++asker) Add(asker, 100);
  auto running = Start();
  Add(/*asker=*/101, 1);
  Member& newcomer = members.back();
  // The turn comes to the newcomer before any of the hundred has a second one.
  int turns = 0;
  for (bool found = false; !found; ++turns) {
    ASSERT_LT(turns, 100);
    queue.End(*running[static_cast<size_t>(turns)]);
    const auto next = Start();
    ASSERT_EQ(next.size(), 1u);
    found = next[0] == &newcomer;
    running.push_back(next[0]);
  }
  EXPECT_EQ(turns, 101 - LookupQueue::kMaxOfNewNames);
}

TEST_F(LookupQueueTest, OnesThatNoCallWaitsForRunLast) {
  for (Asker asker = 1; asker <= 1000; ++asker) Add(asker, 1);
  const auto running = Start();
  for (Member& member : members) queue.SetWanted(member, false);
  Add(/*asker=*/1001, 1);
  queue.End(*running[0]);
  EXPECT_EQ(Start(), std::vector<Member*>{&members.back()});
  for (size_t i = 1; i < running.size(); ++i) queue.End(*running[i]);
  EXPECT_EQ(Start().size(), size_t{LookupQueue::kMaxUnwanted});
  Add(/*asker=*/1002, 1);
  EXPECT_EQ(Start(), std::vector<Member*>{&members.back()}) << "there is room for it at once";
}

TEST_F(LookupQueueTest, OneThatACallWaitsForAgainHasItsTurn) {
  for (Asker asker = 1; asker <= 100; ++asker) Add(asker, 1);
  const auto running = Start();
  for (Member& member : members) queue.SetWanted(member, false);
  queue.SetWanted(members.back(), true);
  queue.End(*running[0]);
  EXPECT_EQ(Start(), std::vector<Member*>{&members.back()});
}

TEST_F(LookupQueueTest, OneThatIsGivenUpWhileNoCallWaitsForItHasNoTurn) {
  Add(/*asker=*/1, LookupQueue::kMaxOfOneCaller + 2);
  const auto first = Start();
  for (Member& member : members) queue.SetWanted(member, false);
  for (Member* each : first) queue.End(*each);
  queue.End(members[first.size()]);
  EXPECT_EQ(Start(), std::vector<Member*>{&members.back()});
}

TEST_F(LookupQueueTest, OneThatIsGivenUpWhileItWaitsHasNoTurn) {
  Add(/*asker=*/1, LookupQueue::kMaxOfOneCaller + 2);
  const auto first = Start();
  queue.End(members[first.size()]);
  queue.End(*first[0]);
  EXPECT_EQ(Start(), std::vector<Member*>{&members.back()});
  EXPECT_TRUE(Start().empty());
}

}  // namespace
}  // namespace levee::net
