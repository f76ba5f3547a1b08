// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

const Route* Find(const RouteTable& table, std::string_view authority, std::string_view path,
                  ListenerRef listener = {}, std::string_view peer = "") {
  return table.Find({.listener = listener,
                     .authority = authority,
                     .path = path,
                     .peer = peer,
                     .headers = std::nullopt});
}

RouteTable Table() {
  return RouteTable({{.authority = "cart.shop:*", .method = "/shop.Cart/*", .upstream = 1},
                     {.authority = "cart.shop:*", .upstream = 2, .policy = 3},
                     {.method = "/grpc.health.v1.Health/Check", .upstream = 4}});
}

TEST(RouteTable, TheFirstRouteThatMatchesWins) {
  const RouteTable table = Table();
  EXPECT_EQ(Find(table, "cart.shop:1", "/shop.Cart/Add")->upstream, 1);
  EXPECT_EQ(Find(table, "cart.shop:1", "/shop.Admin/Add")->upstream, 2);
  EXPECT_EQ(Find(table, "cart.shop:1", "/shop.Admin/Add")->policy, 3);
  EXPECT_EQ(Find(table, "cart.shop:1", "/grpc.health.v1.Health/Check")->upstream, 2);
  EXPECT_EQ(Find(table, "x", "/grpc.health.v1.Health/Check")->upstream, 4);
}

TEST(RouteTable, NamesOfHostsMatchInUpperAndLowerCaseAndMethodsDoNot) {
  EXPECT_EQ(Find(Table(), "Cart.SHOP:1", "/shop.Cart/Add")->upstream, 1);
  EXPECT_EQ(Find(Table(), "Cart.SHOP:1", "/SHOP.Cart/Add")->upstream, 2);
  EXPECT_EQ(Find(RouteTable({{.authority = "*.Shop:*"}}), "a.shop:1", "/b")->upstream, 0);
}

TEST(RouteTable, ACallThatNoRouteMatchesHasNone) {
  EXPECT_EQ(Find(Table(), "pay.shop:1", "/shop.Cart/Add"), nullptr);
  EXPECT_EQ(Find(RouteTable({}), "a", "/b"), nullptr);
}

constexpr ListenerRef kEgress{0, Direction::kEgress};
constexpr ListenerRef kOtherEgress{1, Direction::kEgress};
constexpr ListenerRef kInbound{2, Direction::kInbound};
constexpr ListenerRef kOtherInbound{3, Direction::kInbound};

TEST(RouteTable, ListenersMayRouteTheSameCallDifferently) {
  const RouteTable table({{.upstream = 1, .listener = kEgress},
                          {.upstream = 2, .listener = kOtherEgress},
                          {.upstream = 3, .listener = kInbound},
                          {.upstream = 4, .listener = kOtherInbound}});
  EXPECT_EQ(Find(table, "a:1", "/b", kEgress)->upstream, 1);
  EXPECT_EQ(Find(table, "a:1", "/b", kOtherEgress)->upstream, 2);
  EXPECT_EQ(Find(table, "a:1", "/b", kInbound)->upstream, 3);
  EXPECT_EQ(Find(table, "a:1", "/b", kOtherInbound)->upstream, 4);
}

TEST(RouteTable, ARouteWithoutListenerServesThoseOfItsDirection) {
  const RouteTable table({Route{.upstream = 1}});
  EXPECT_EQ(Find(table, "a:1", "/b", kEgress)->upstream, 1);
  EXPECT_EQ(Find(table, "a:1", "/b", kOtherEgress)->upstream, 1);
  EXPECT_EQ(Find(table, "a:1", "/b", kInbound), nullptr);
}

// The configuration has changed the listener, or has it no more.
TEST(RouteTable, AConnectionKeepsItsDirection) {
  const RouteTable table({{.upstream = 1, .listener = kInbound}, {.upstream = 2}});
  EXPECT_EQ(Find(table, "a:1", "/b", {kInbound.index, Direction::kEgress})->upstream, 2);
  EXPECT_EQ(Find(table, "a:1", "/b", {ListenerRef::kNone, Direction::kEgress})->upstream, 2);
  EXPECT_EQ(Find(table, "a:1", "/b", {ListenerRef::kNone, Direction::kInbound}), nullptr);
}

TEST(RouteTable, ARouteWithoutGlobsMatchesAll) {
  EXPECT_NE(Find(RouteTable({Route()}), "", ""), nullptr);
}

TEST(RouteTable, TellsCallersApartWhereARouteAsksForOne) {
  Route of_shop;
  of_shop.peer = "spiffe://shop/*";
  Route rest;
  rest.upstream = 1;
  const RouteTable routes({of_shop, rest});
  EXPECT_TRUE(routes.tells_peers_apart());
  EXPECT_EQ(Find(routes, "a:1", "/b", {}, "spiffe://shop/web")->upstream, 0);
  EXPECT_EQ(Find(routes, "a:1", "/b", {}, "spiffe://bank/web")->upstream, 1);
  EXPECT_EQ(Find(routes, "a:1", "/b")->upstream, 1);
  EXPECT_FALSE(RouteTable({rest}).tells_peers_apart());
}

Route Of(std::string authority, std::string method, std::string peer, ListenerRef listener = {}) {
  return {.authority = std::move(authority),
          .method = std::move(method),
          .peer = std::move(peer),
          .listener = listener};
}

std::optional<RouteField> Mismatch(const Route& route, const ListenerRef& listener,
                                   RouteFact authority, RouteFact path, RouteFact peer) {
  const Metadata without;
  return route.Mismatch({.listener = listener,
                         .authority = authority,
                         .path = path,
                         .peer = peer,
                         .headers = without});
}

TEST(RouteMismatch, NamesTheFirstConditionThatTheCallDoesNotMeet) {
  const Route route = Of("cart.shop:*", "/shop.Cart/*", "spiffe://shop/*", kInbound);
  EXPECT_EQ(Mismatch(route, kOtherInbound, "a:1", "/b", ""), RouteField::kListener);
  EXPECT_EQ(Mismatch(route, kInbound, "a:1", "/b", ""), RouteField::kAuthority);
  EXPECT_EQ(Mismatch(route, kInbound, "Cart.shop:1", "/b", ""), RouteField::kMethod);
  EXPECT_EQ(Mismatch(route, kInbound, "cart.shop:1", "/shop.Cart/Add", ""), RouteField::kPeer);
  EXPECT_EQ(Mismatch(route, kInbound, "cart.shop:1", "/shop.Cart/Add", "spiffe://shop/web"),
            std::nullopt);
}

// Returns a route that asks for something in that field only.
Route AskingFor(RouteField field) {
  switch (field) {
    case RouteField::kListener:
      return Of("*", "*", "*", kOtherEgress);
    case RouteField::kAuthority:
      return Of("cart.shop:*", "*", "*");
    case RouteField::kMethod:
      return Of("*", "/shop.Cart/*", "*");
    case RouteField::kPeer:
      return Of("*", "*", "spiffe://shop/*");
    case RouteField::kHeaders: {
      Route route = Of("*", "*", "*");
      route.headers = {{.name = "x-tenant"}};
      return route;
    }
  }
  return {};
}

TEST(RouteMismatch, EachConditionCanBeTheOneThatACallDoesNotMeet) {
  for (int i = 0; i < kRouteFields; ++i) {
    const auto field = static_cast<RouteField>(i);
    EXPECT_EQ(Mismatch(AskingFor(field), kEgress, "a:1", "/b", ""), field);
    EXPECT_FALSE(Covers(AskingFor(field), Route{.listener = kEgress})) << RouteFieldName(field);
  }
}

TEST(RouteMismatch, AFactThatNobodyHasSaidMeetsEveryCondition) {
  const Route route = Of("cart.shop:*", "/shop.Cart/*", "spiffe://shop/*", kInbound);
  const std::optional<std::string> unsaid;
  EXPECT_EQ(Mismatch(route, kInbound, unsaid, unsaid, unsaid), std::nullopt);
  EXPECT_EQ(Mismatch(route, kInbound, unsaid, "/b", unsaid), RouteField::kMethod);
}

TEST(RouteCovers, ARouteCoversThoseWhoseCallsItAllTakes) {
  const Route cart = Of("cart.shop:*", "/shop.Cart/*", "spiffe://shop/*", kInbound);
  EXPECT_TRUE(Covers(cart, cart));
  EXPECT_TRUE(Covers(Of("*", "*", "*", kInbound), cart));
  EXPECT_TRUE(Covers(Of("*", "*", "*", {ListenerRef::kNone, Direction::kInbound}), cart));
  EXPECT_FALSE(Covers(cart, Of("*", "/shop.Cart/*", "spiffe://shop/*", kInbound)));
  EXPECT_FALSE(Covers(cart, Of("cart.shop:*", "*", "spiffe://shop/*", kInbound)));
  EXPECT_FALSE(Covers(cart, Of("cart.shop:*", "/shop.Cart/*", "*", kInbound)));
  EXPECT_FALSE(Covers(cart, Of("cart.shop:*", "/shop.Cart/*", "spiffe://shop/*", kOtherInbound)));
}

}  // namespace
}  // namespace levee
