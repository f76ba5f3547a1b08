// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(GlobMatch, WithoutStarsOnlyTheSameTextMatches) {
  EXPECT_TRUE(GlobMatch("/shop.Cart/Add", "/shop.Cart/Add"));
  EXPECT_FALSE(GlobMatch("/shop.Cart/Add", "/shop.Cart/AddAll"));
  EXPECT_FALSE(GlobMatch("/shop.Cart/Add", "/shop.Cart/Ad"));
  EXPECT_FALSE(GlobMatch("/shop.Cart/Add", "/shop.cart/Add"));
  EXPECT_TRUE(GlobMatch("", ""));
  EXPECT_FALSE(GlobMatch("", "a"));
  EXPECT_FALSE(GlobMatch("a", ""));
}

TEST(GlobMatch, StarMatchesAnyRunAndNone) {
  for (const char* text : {"", "a", "cart.shop:50051"}) EXPECT_TRUE(GlobMatch("*", text)) << text;
  EXPECT_TRUE(GlobMatch("cart.shop:*", "cart.shop:"));
  EXPECT_TRUE(GlobMatch("cart.shop:*", "cart.shop:50051"));
  EXPECT_FALSE(GlobMatch("cart.shop:*", "cart.shop"));
  EXPECT_TRUE(GlobMatch("*.shop:*", "cart.shop:1"));
  EXPECT_FALSE(GlobMatch("*.shop:*", "cart.shops:1"));
  EXPECT_TRUE(GlobMatch("/*/Get*", "/shop.Cart/GetItem"));
  EXPECT_FALSE(GlobMatch("/*/Get*", "/shop.Cart/SetItem"));
  EXPECT_TRUE(GlobMatch("a**b", "ab"));
}

TEST(GlobMatch, TakesTheRunsThatMakeTheRestFit) {
  EXPECT_TRUE(GlobMatch("*ab", "aab"));
  EXPECT_TRUE(GlobMatch("*abc*abd", "abcabcabd"));
  EXPECT_TRUE(GlobMatch("a*a*a", "aaaa"));
  EXPECT_FALSE(GlobMatch("a*a*a", "aa"));
  EXPECT_FALSE(GlobMatch("*aab", "aaac"));
}

TEST(GlobMatch, OtherGlobCharactersAreThemselves) {
  EXPECT_TRUE(GlobMatch("[a]?", "[a]?"));
  EXPECT_FALSE(GlobMatch("[a]?", "ab"));
}

// With backtracking over every star this would take longer than the universe is old.
TEST(GlobMatch, ManyStarsStayCheap) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(GlobMatch(pattern + "b", std::string(5000, 'a')));
  EXPECT_TRUE(GlobMatch(pattern, std::string(5000, 'a')));
}

RouteTable Table() {
  return RouteTable({{.authority = "cart.shop:*", .method = "/shop.Cart/*", .upstream = 1},
                     {.authority = "cart.shop:*", .upstream = 2, .policy = 3},
                     {.method = "/grpc.health.v1.Health/Check", .upstream = 4}});
}

TEST(RouteTable, TheFirstRouteThatMatchesWins) {
  const RouteTable table = Table();
  EXPECT_EQ(table.Find("cart.shop:1", "/shop.Cart/Add")->upstream, 1);
  EXPECT_EQ(table.Find("cart.shop:1", "/shop.Admin/Add")->upstream, 2);
  EXPECT_EQ(table.Find("cart.shop:1", "/shop.Admin/Add")->policy, 3);
  EXPECT_EQ(table.Find("cart.shop:1", "/grpc.health.v1.Health/Check")->upstream, 2);
  EXPECT_EQ(table.Find("x", "/grpc.health.v1.Health/Check")->upstream, 4);
}

TEST(RouteTable, ACallThatNoRouteMatchesHasNone) {
  EXPECT_EQ(Table().Find("pay.shop:1", "/shop.Cart/Add"), nullptr);
  EXPECT_EQ(RouteTable({}).Find("a", "/b"), nullptr);
}

TEST(RouteTable, ARouteWithoutGlobsMatchesAll) {
  EXPECT_NE(RouteTable({Route()}).Find("", ""), nullptr);
}

}  // namespace
}  // namespace levee
