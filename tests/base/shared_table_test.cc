// SPDX-License-Identifier: Apache-2.0
#include "base/shared_table.h"

#include <compare>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

struct Named {
  std::string name;
  bool made_up = false;
  friend auto operator<=>(const Named&, const Named&) = default;
};

using NumberTable = SharedTable<Named, int>;

constexpr Instant kBegin;

std::shared_ptr<int> GetNumber(NumberTable& table, const Named& key, Instant now = kBegin) {
  return table.Get(key, now, [] { return std::make_shared<int>(0); });
}

NumberTable::Rules SayUnlessZero() {
  return {.says = [](const int& number, Instant) { return number != 0; }};
}

TEST(SharedTable, WhoNamesAnObjectAlikeSharesIt) {
  NumberTable table;
  const auto a = GetNumber(table, {"a"});
  EXPECT_EQ(GetNumber(table, {"a"}), a);
  EXPECT_NE(GetNumber(table, {"b"}), a);
  EXPECT_NE(GetNumber(table, {"a", true}), a);
}

TEST(SharedTable, AnObjectThatNobodyHoldsIsMadeAnew) {
  NumberTable table;
  *GetNumber(table, {"a"}) = 7;
  EXPECT_EQ(*GetNumber(table, {"a"}), 0);
  EXPECT_TRUE(table.All().empty());
}

TEST(SharedTable, AnObjectThatSaysSomethingStaysUntilItSaysNothing) {
  NumberTable table(SayUnlessZero());
  *GetNumber(table, {"a"}) = 7;
  table.ForgetUnused(kBegin);
  ASSERT_EQ(table.All().size(), 1u);
  EXPECT_FALSE(table.All()[0].held);
  {
    const auto a = GetNumber(table, {"a"});
    EXPECT_EQ(*a, 7);
    EXPECT_TRUE(table.All()[0].held);
    *a = 0;
    table.ForgetUnused(kBegin);
    EXPECT_EQ(table.size(), 1u);
  }
  table.ForgetUnused(kBegin);
  EXPECT_EQ(table.size(), 0u);
}

TEST(SharedTable, WhatNobodyUsesIsForgottenAsOthersAreAskedForLater) {
  NumberTable table(SayUnlessZero());
  GetNumber(table, {"a"});
  const auto b = GetNumber(table, {"b"}, kBegin + absl::Milliseconds(1));
  EXPECT_EQ(table.size(), 2u);
  GetNumber(table, {"b"}, kBegin + absl::Seconds(2));
  EXPECT_EQ(table.size(), 1u);
}

TEST(SharedTable, MadeUpKeysHaveABoundOfTheirOwn) {
  NumberTable table({.made_up = [](const Named& key) { return key.made_up; }, .most = 1});
  auto first = GetNumber(table, {"a", true});
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(GetNumber(table, {"b", true}), nullptr);
  EXPECT_EQ(GetNumber(table, {"a", true}), first);
  EXPECT_NE(GetNumber(table, {"b"}), nullptr);
  first.reset();
  EXPECT_NE(GetNumber(table, {"b", true}), nullptr);
}

TEST(SharedTable, ShowsObjectsInTheOrderInWhichTheyWereMade) {
  NumberTable table;
  const auto b = GetNumber(table, {"b"});
  const auto a = GetNumber(table, {"a"});
  const auto all = table.All();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].object, b);
  EXPECT_EQ(all[1].object, a);
}

}  // namespace
}  // namespace levee
