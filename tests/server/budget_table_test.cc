#include "server/budget_table.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

TEST(BudgetTable, CallsToOneDestinationShareABudget) {
  BudgetTable table(1);
  const auto first = table.Get("cart", "", {});
  EXPECT_EQ(table.Get("cart", "", {}), first);
  EXPECT_NE(table.Get("payments", "", {}), first);
  EXPECT_NE(table.Get("cart", "10.0.0.7:50051", {}), first);
}

TEST(BudgetTable, PoliciesWithOtherNumbersKeepTheirOwnAccount) {
  BudgetTable table(1);
  const auto tenth = table.Get("cart", "", {});
  EXPECT_NE(table.Get("cart", "", {.ratio = 0.2}), tenth);
}

TEST(BudgetTable, BudgetOutlivesTheWorkerThatDroppedItWhileAnotherUsesIt) {
  BudgetTable table(2);
  auto first = table.Get("cart", "", {});
  const auto second = table.Get("cart", "", {});
  first->Deposit(0, Instant());
  first.reset();
  EXPECT_EQ(table.Get("cart", "", {})->Read(Instant()).calls, 1);
}

TEST(BudgetTable, GaugesShowEveryBudgetInUse) {
  BudgetTable table(1);
  const auto cart = table.Get("cart", "", {.ratio = 0.5, .floor_per_second = 0});
  { const auto gone = table.Get("gone", "", {}); }
  for (int i = 0; i < 10; ++i) cart->Deposit(0, Instant());
  const auto gauges = table.Read(Instant());
  ASSERT_EQ(gauges.size(), 1u);
  EXPECT_EQ(gauges[0].upstream, "cart");
  EXPECT_EQ(gauges[0].limit, 5);
}

}  // namespace
}  // namespace levee
