// SPDX-License-Identifier: Apache-2.0
// The conditions of routes on headers, and the choice that headers make.
#include "policy/route_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

HeaderMatch Asks(const std::string& name, HeaderTest test, const std::string& text = "") {
  std::string error;
  return {name, test, text, test == HeaderTest::kRegex ? CompileHeaderRegex(text, error) : nullptr};
}

bool Holds(const HeaderMatch& match, const Fields& fields) {
  Metadata head;
  for (const auto& [name, value] : fields) head.Add(name, value);
  return match.Holds(head);
}

TEST(HeaderMatch, EachTestIsForTheWholeValueInItsCase) {
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kExact, "gold"), {{"x", "gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kExact, "gold"), {{"x", "Gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kExact, "gold"), {{"x", "gold "}}));
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kPrefix, "go"), {{"x", "gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kPrefix, "old"), {{"x", "gold"}}));
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kSuffix, "old"), {{"x", "gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kSuffix, "go"), {{"x", "gold"}}));
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kRegex, "g.*|silver"), {{"x", "gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kRegex, "old|silver"), {{"x", "gold"}}));
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kPresent), {{"x", ""}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kAbsent), {{"x", ""}}));
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kAbsent), {{"y", "gold"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kPresent), {{"y", "gold"}}));
}

TEST(HeaderMatch, AnExpressionReadsBytesThatAreNoText) {
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kRegex, "a.c"), {{"x",
                                                            "a\xff"
                                                            "c"}}));
}

TEST(HeaderMatch, AnyOfSeveralValuesMeetsIt) {
  EXPECT_TRUE(Holds(Asks("x", HeaderTest::kExact, "b"), {{"x", "a"}, {"y", "c"}, {"x", "b"}}));
  EXPECT_FALSE(Holds(Asks("x", HeaderTest::kExact, "c"), {{"x", "a"}, {"y", "c"}, {"x", "b"}}));
}

TEST(HeaderMatch, AnExpressionThatIsNoneOrTooLargeIsRefusedWithTheReason) {
  std::string error;
  EXPECT_EQ(CompileHeaderRegex("a(", error), nullptr);
  EXPECT_EQ(error, "missing ): a(");
  EXPECT_EQ(CompileHeaderRegex("((a{1,100}){1,100}){1,100}", error), nullptr);
}

TEST(HeaderMatch, OneImpliesAnotherOnlyWhereThatIsPlain) {
  const HeaderMatch gold = Asks("x", HeaderTest::kExact, "gold");
  EXPECT_TRUE(Implies(gold, gold));
  EXPECT_TRUE(Implies(gold, Asks("x", HeaderTest::kPrefix, "go")));
  EXPECT_TRUE(Implies(gold, Asks("x", HeaderTest::kRegex, "[a-z]+")));
  EXPECT_TRUE(Implies(gold, Asks("x", HeaderTest::kPresent)));
  EXPECT_TRUE(Implies(Asks("x", HeaderTest::kPrefix, "go"), Asks("x", HeaderTest::kPresent)));
  EXPECT_FALSE(Implies(gold, Asks("y", HeaderTest::kPresent)));
  EXPECT_FALSE(Implies(gold, Asks("x", HeaderTest::kAbsent)));
  EXPECT_FALSE(Implies(Asks("x", HeaderTest::kAbsent), Asks("x", HeaderTest::kPresent)));
  EXPECT_FALSE(Implies(Asks("x", HeaderTest::kPresent), gold));
  EXPECT_FALSE(Implies(Asks("x", HeaderTest::kPrefix, "go"), gold));
}

Route With(std::vector<HeaderMatch> headers, int upstream = 0) {
  Route route;
  route.headers = std::move(headers);
  route.upstream = upstream;
  return route;
}

std::vector<int> CandidatesOf(const RouteTable& table, const std::string& path = "/b") {
  return table.Candidates(
      {.listener = {}, .authority = "a:1", .path = path, .peer = "", .headers = std::nullopt});
}

TEST(RouteCovers, ARouteWithHeadersCoversNothingWithoutThem) {
  const HeaderMatch gold = Asks("x", HeaderTest::kExact, "gold");
  const HeaderMatch canary = Asks("y", HeaderTest::kPresent);
  EXPECT_FALSE(Covers(With({gold}), With({})));
  EXPECT_FALSE(Covers(With({gold}), With({canary})));
  EXPECT_FALSE(Covers(With({gold, canary}), With({gold})));
  EXPECT_TRUE(Covers(With({}), With({gold})));
  EXPECT_TRUE(Covers(With({gold}), With({canary, gold})));
}

TEST(RouteTable, TheCandidatesOfACallEndWithTheFirstThatAsksForNoHeader) {
  Route other = With({Asks("x", HeaderTest::kPresent)});
  other.method = "/c";
  const RouteTable table({other, With({Asks("x", HeaderTest::kPresent)}), With({}), With({})});
  EXPECT_EQ(CandidatesOf(table), (std::vector<int>{1, 2}));
  EXPECT_TRUE(table.looks_at_calls());
  EXPECT_FALSE(RouteTable({With({})}).looks_at_calls());
}

TEST(RouteTable, RoutesWithTheSamePolicyShareTheirRules) {
  Route other = With({});
  other.policy = 1;
  const RouteTable table({With({}, 1), other, With({}, 2)});
  EXPECT_EQ(table.RulesOf(0), 0);
  EXPECT_EQ(table.RulesOf(1), 1);
  EXPECT_EQ(table.RulesOf(2), 0);
}

Route Split(std::vector<std::string> key) {
  Route route;
  route.split = {{.upstream = 3, .weight = 1}, {.upstream = 4, .weight = 99}};
  route.split_key = std::move(key);
  return route;
}

TEST(RouteSplit, X3_OneCallInAHundredIsWithinThreeSigma) {
  const Route by_draw = Split({});
  const Route by_user = Split({"x-user"});
  Random random(7);
  int drawn = 0, of_users = 0;
  constexpr int kCalls = 100'000;
  for (int i = 0; i < kCalls; ++i) {
    Metadata head;
    head.Add("x-user", "user-" + std::to_string(i));
    drawn += by_draw.UpstreamOf(head, random) == 3 ? 1 : 0;
    of_users += by_user.UpstreamOf(head, random) == 3 ? 1 : 0;
  }
  const double sigma = std::sqrt(kCalls * .01 * .99);
  EXPECT_NEAR(drawn, kCalls * .01, 3 * sigma);
  EXPECT_NEAR(of_users, kCalls * .01, 3 * sigma);
}

TEST(RouteSplit, AUserStaysWhereItIsWhenAnothersWeightGrows) {
  Route route = Split({"x-user", "x-tenant"});
  route.split[0].weight = 50;
  route.split[1].weight = 50;
  Route more = route;
  more.split[0].weight = 60;
  more.split[1].weight = 40;
  Random one(1), other(2);
  for (int i = 0; i < 1000; ++i) {
    Metadata head;
    head.Add("x-user", std::to_string(i));
    const int upstream = route.UpstreamOf(head, one);
    EXPECT_EQ(route.UpstreamOf(head, other), upstream);
    if (upstream == 3) {
      EXPECT_EQ(more.UpstreamOf(head, one), 3);
    }
  }
}

TEST(RouteSplit, CallsWithoutTheHeaderAreDrawn) {
  const Route route = Split({"x-user"});
  Random random(7);
  bool first = false, second = false;
  for (int i = 0; i < 10'000; ++i) {
    (route.UpstreamOf(Metadata(), random) == 3 ? first : second) = true;
  }
  EXPECT_TRUE(first && second);
}

// The choice is that of the first route that matches, in whichever order the tests stand.
TEST(RouteChoice, ChoosesAsLookingAtEachRouteInTurnWould) {
  std::vector<Route> routes = {
      With({Asks("tenant", HeaderTest::kExact, "a"), Asks("canary", HeaderTest::kPresent)}),
      With({Asks("tenant", HeaderTest::kPrefix, "b")}),
      With({Asks("tenant", HeaderTest::kExact, "b")}),
      With({Asks("tenant", HeaderTest::kExact, "a")}),
      With({Asks("region", HeaderTest::kExact, "eu")}),
      With({Asks("tenant", HeaderTest::kAbsent)}),
  };
  std::vector<size_t> order(routes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<Route> permuted;
    for (const size_t i : order) permuted.push_back(routes[i]);
    const RouteTable table(permuted);
    const RouteChoice choice(table, CandidatesOf(table));
    for (const Fields& fields : std::vector<Fields>{{},
                                                    {{"tenant", "a"}},
                                                    {{"tenant", "a"}, {"canary", "1"}},
                                                    {{"tenant", "b"}},
                                                    {{"tenant", "c"}},
                                                    {{"tenant", "c"}, {"tenant", "a"}},
                                                    {{"tenant", "b"}, {"region", "eu"}}}) {
      Metadata head;
      for (const auto& [name, value] : fields) head.Add(name, value);
      const Route* const found = table.Find(
          {.listener = {}, .authority = "a:1", .path = "/b", .peer = "", .headers = head});
      const std::optional<int> chosen = choice.Choose(head);
      ASSERT_EQ(chosen.has_value(), found != nullptr);
      if (found != nullptr) {
        ASSERT_EQ(&table.routes()[static_cast<size_t>(*chosen)], found);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(RouteChoice, TenThousandTenantsTakeLessThanAKibibyteEach) {
  std::vector<Route> routes;
  for (int i = 0; i < 10'000; ++i) {
    routes.push_back(With({Asks("tenant", HeaderTest::kExact, "tenant-" + std::to_string(i))}));
  }
  routes.push_back(With({}));
  const RouteTable table(std::move(routes));
  const RouteChoice choice(table, CandidatesOf(table));
  Metadata head;
  head.Add("tenant", "tenant-9999");
  EXPECT_EQ(choice.Choose(head), 9999);
  head.Set("tenant", "nobody");
  EXPECT_EQ(choice.Choose(head), 10'000);
  EXPECT_LT(choice.bytes() / 10'000 + sizeof(Route) + sizeof(HeaderMatch), 1024u);
}

}  // namespace
}  // namespace levee
