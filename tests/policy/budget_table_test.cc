// SPDX-License-Identifier: Apache-2.0
#include "policy/budget_table.h"

#include <gtest/gtest.h>

#include <string>

#include "policy/times.h"

namespace levee {
namespace {

std::shared_ptr<RetryBudget> Get(BudgetTable& table, const std::string& upstream,
                                 const std::string& authority = "",
                                 const RetryBudgetPolicy& policy = {}, Instant now = At(0)) {
  return table.Get(upstream, authority, policy, now).budget;
}

TEST(BudgetTable, CallsToOneDestinationShareABudget) {
  BudgetTable table(1, 10);
  const auto first = Get(table, "cart");
  EXPECT_EQ(Get(table, "cart"), first);
  EXPECT_NE(Get(table, "payments"), first);
  EXPECT_NE(Get(table, "cart", "10.0.0.7:50051"), first);
}

TEST(BudgetTable, PoliciesWithOtherNumbersKeepTheirOwnAccount) {
  BudgetTable table(1, 10);
  const auto tenth = Get(table, "cart");
  EXPECT_NE(Get(table, "cart", "", {.ratio = 0.2}), tenth);
}

TEST(BudgetTable, PoliciesThatDifferInAttemptsShareAnAccountWithRetriesForTheMost) {
  BudgetTable table(1, 10);
  const auto budget = Get(table, "cart", "", {.burst_least = 2, .burst_follows = true});
  EXPECT_EQ(budget->Read(At(0)).at_once, 2);
  EXPECT_EQ(Get(table, "cart", "", {.burst_least = 3, .burst_follows = true}), budget);
  EXPECT_EQ(budget->Read(At(0)).at_once, 3);
  EXPECT_EQ(Get(table, "cart", "", {.burst_least = 2, .burst_follows = true}), budget);
  EXPECT_EQ(budget->Read(At(0)).at_once, 3);
  EXPECT_NE(Get(table, "cart", "", {.burst_least = 3}), budget);
}

TEST(BudgetTable, BudgetOutlivesTheWorkerThatDroppedItWhileAnotherUsesIt) {
  BudgetTable table(2, 10);
  auto first = Get(table, "cart");
  const auto second = Get(table, "cart");
  first->Deposit(0, At(0));
  first.reset();
  EXPECT_EQ(Get(table, "cart")->Read(At(0)).calls, 1);
}

TEST(BudgetTable, ABudgetThatNobodyUsesKeepsItsAccountForItsWindow) {
  BudgetTable table(1, 10);
  Get(table, "anywhere", "a:1")->Deposit(0, At(1));
  EXPECT_EQ(Get(table, "anywhere", "a:1", {}, At(9))->Read(At(9)).calls, 1);
}

TEST(BudgetTable, AuthoritiesBeyondTheLimitShareOneBudgetWithoutFloor) {
  BudgetTable table(1, 2);
  const auto a = Get(table, "anywhere", "a:1");
  const auto b = Get(table, "anywhere", "b:1");
  const auto c = table.Get("anywhere", "c:1", {}, At(0));
  const auto d = table.Get("anywhere", "d:1", {}, At(0));
  EXPECT_TRUE(c.over_limit);
  EXPECT_EQ(c.budget, d.budget);
  EXPECT_NE(c.budget, a);
  EXPECT_EQ(c.budget->Read(At(0)).limit, 0);
  EXPECT_FALSE(table.Get("anywhere", "a:1", {}, At(0)).over_limit);
  // Upstreams with endpoints of their own are as many as the configuration has.
  EXPECT_FALSE(table.Get("cart", "", {}, At(0)).over_limit);
}

TEST(BudgetTable, MakingUpAuthoritiesResetsNoAccountAndGivesNoMoreFloors) {
  BudgetTable table(1, 10);
  Get(table, "anywhere", "real:1")->Deposit(0, At(0));
  int floors = 0;
  for (int i = 0; i < 1000; ++i) {
    const Instant now = At(i * 0.008);
    const auto account = table.Get("anywhere", "made-up:" + std::to_string(i), {}, now);
    account.budget->Deposit(0, now);
    floors += account.over_limit ? 0 : 1;
  }
  EXPECT_EQ(floors, 9);
  EXPECT_EQ(Get(table, "anywhere", "real:1", {}, At(8))->Read(At(8)).calls, 1);
}

TEST(BudgetTable, AnAuthorityWhoseWindowIsEmptyMakesRoomForAnother) {
  BudgetTable table(1, 1);
  Get(table, "anywhere", "a:1")->Deposit(0, At(0));
  EXPECT_TRUE(table.Get("anywhere", "b:1", {}, At(5)).over_limit);
  EXPECT_FALSE(table.Get("anywhere", "b:1", {}, At(20)).over_limit);
}

TEST(BudgetTable, AnAuthorityThatAWorkerUsesDoesNotMakeRoom) {
  BudgetTable table(1, 1);
  const auto used = Get(table, "anywhere", "a:1");
  EXPECT_TRUE(table.Get("anywhere", "b:1", {}, At(60)).over_limit);
}

TEST(BudgetTable, TheSharedBudgetOfAnUpstreamThatIsGoneIsForgotten) {
  BudgetTable table(1, 0);
  std::weak_ptr<RetryBudget> used, unused;
  {
    const auto budget = Get(table, "anywhere", "a:1");
    budget->Deposit(0, At(5));
    used = budget;
    unused = Get(table, "elsewhere", "a:1", {}, At(5));
  }
  Get(table, "cart", "", {}, At(10));
  EXPECT_FALSE(used.expired());
  EXPECT_TRUE(unused.expired());
  Get(table, "cart", "", {}, At(20));
  EXPECT_TRUE(used.expired());
}

TEST(BudgetTable, ViewsShowEveryBudgetInUse) {
  BudgetTable table(1, 10);
  const auto cart = Get(table, "cart", "", {.ratio = 0.5, .floor_per_second = 0});
  { const auto gone = Get(table, "gone"); }
  for (int i = 0; i < 10; ++i) cart->Deposit(0, At(0));
  const auto views = table.Views(At(0));
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].upstream, "cart");
  EXPECT_EQ(views[0].state.limit, 5);
}

TEST(BudgetTable, OneBudgetSpeaksForAnUpstreamThatHasNoCalls) {
  BudgetTable table(1, 10);
  const auto a = Get(table, "anywhere");
  const auto b = Get(table, "anywhere", "b:1");
  EXPECT_EQ(table.Views(At(0)).size(), 1u);
}

}  // namespace
}  // namespace levee
