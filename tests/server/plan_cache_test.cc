// SPDX-License-Identifier: Apache-2.0
// By what calls are routed, where they are dialled, and the plans that are kept for them.
#include <memory>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "server/call_log.h"
#include "server/call_plan.h"

namespace levee {
namespace {

ConnectionOrigin TunnelTo(const std::string& destination) {
  return {.listener = std::make_shared<const ListenerSpec>(), .destination = destination};
}

TEST(CallAddress, ACallOutsideOfTunnelsIsRoutedByItsAuthority) {
  const ConnectionOrigin origin = TunnelTo("");
  const CallAddress address = AddressOf(origin, "cart.shop:1");
  EXPECT_EQ(address.routed_by, "cart.shop:1");
  EXPECT_EQ(address.original, "");
}

TEST(CallAddress, ACallInATunnelIsRoutedByItsDestination) {
  const ConnectionOrigin origin = TunnelTo("pay.shop:2");
  const CallAddress address = AddressOf(origin, "cart.shop:1");
  EXPECT_EQ(address.routed_by, "pay.shop:2");
  EXPECT_EQ(address.original, "");
}

TEST(CallAddress, ACallOfARedirectedConnectionIsRoutedByItsAuthorityAndKeepsItsDestination) {
  ConnectionOrigin origin = TunnelTo("");
  origin.original = "10.0.0.7:1";
  const CallAddress address = AddressOf(origin, "cart.shop:1");
  EXPECT_EQ(address.routed_by, "cart.shop:1");
  EXPECT_EQ(address.original, "10.0.0.7:1");
}

TEST(CallAddress, EachSpellingOfAnAuthorityIsTheSameOne) {
  for (const char* text : {"cart.shop:80", "Cart.SHOP:80", "CART.shop:0080"}) {
    EXPECT_EQ(SpelledOnce(text), "cart.shop:80") << text;
  }
  for (const char* text : {"10.0.0.7:80", "[::ffff:10.0.0.7]:80", "[0:0::FFFF:A00:7]:080"}) {
    EXPECT_EQ(SpelledOnce(text), "10.0.0.7:80") << text;
  }
  for (const char* text : {"[::1]:80", "[0:0:0:0:0:0:0:1]:80", "[::0001]:80"}) {
    EXPECT_EQ(SpelledOnce(text), "[::1]:80") << text;
  }
  EXPECT_EQ(SpelledOnce("Cart"), "cart");
  EXPECT_EQ(SpelledOnce("cart.shop.:80"), "cart.shop.:80");
  EXPECT_EQ(WithoutFinalDot("cart.shop.:80"), "cart.shop:80");
  EXPECT_EQ(WithoutFinalDot("cart.shop."), "cart.shop");
  EXPECT_EQ(WithoutFinalDot("cart.shop:80"), "cart.shop:80");
  EXPECT_EQ(WithoutFinalDot(""), "");
}

TEST(CallAddress, TheLogShowsByWhatACallWasRouted) {
  const ConnectionOrigin origin = TunnelTo("pay.shop:2");
  Metadata head;
  head.Add(":authority", "cart.shop:1");
  EXPECT_EQ(FactsOf(origin, head).authority, "pay.shop:2");
  const ConnectionOrigin outside = TunnelTo("");
  EXPECT_EQ(FactsOf(outside, head).authority, "cart.shop:1");
}

class PlanCacheTest : public testing::Test {
 protected:
  // A plan of the default policy, of calls that lead nowhere.
  std::shared_ptr<CallPlan> Plan() {
    return std::make_shared<CallPlan>(
        CallPlan{.snapshot = nullptr,
                 .features = {tables_, policies_, {.upstream = name_, .authority = "", .now = {}}},
                 .series = {metrics_, 0, name_, policies_},
                 .kind = {},
                 .usual_answer = {}});
  }

  PlanCache plans_;

 private:
  const std::string name_ = "cart";
  const CallPolicy policy_;
  const RoutePolicies policies_{.policy = policy_};
  Metrics metrics_{Metrics::Options()};
  PolicyTables tables_{PolicyTables::Parts()};
};

TEST_F(PlanCacheTest, CallsThatWereGoingElsewhereHavePlansOfTheirOwn) {
  const PlanKey plain{.address = {.routed_by = "cart.shop:1"}, .path = "/a.B/C"};
  const PlanKey first{.address = {.routed_by = "cart.shop:1", .original = "10.0.0.7:1"},
                      .path = "/a.B/C"};
  const PlanKey second{.address = {.routed_by = "cart.shop:1", .original = "10.0.0.8:1"},
                       .path = "/a.B/C"};
  for (const PlanKey& key : {plain, first, second}) {
    EXPECT_EQ(plans_.Find(key), nullptr);
    plans_.Insert(key, Plan());
  }
  EXPECT_NE(plans_.Find(plain), plans_.Find(first));
  EXPECT_NE(plans_.Find(plain), plans_.Find(second));
  EXPECT_NE(plans_.Find(first), plans_.Find(second));
}

TEST_F(PlanCacheTest, TheSameCallOnAnotherListenerOrInAnotherDirectionHasAPlanOfItsOwn) {
  std::set<std::shared_ptr<CallPlan>> made;
  for (const int listener : {ListenerRef::kNone, 0, 1}) {
    for (const Direction direction : {Direction::kEgress, Direction::kInbound}) {
      const PlanKey key{
          .listener = {listener, direction}, .address = {.routed_by = "a:1"}, .path = "/b"};
      EXPECT_EQ(plans_.Find(key), nullptr);
      plans_.Insert(key, Plan());
      made.insert(plans_.Find(key));
    }
  }
  EXPECT_EQ(made.size(), 6u);
}

TEST_F(PlanCacheTest, ThePlansTakeAtMostEightMebibytes) {
  const auto plan = Plan();
  const auto insert = [&](int i, size_t size) {
    const std::string path = std::string(size, 'p') + std::to_string(i);
    return plans_.Insert({.address = {.routed_by = "a:1"}, .path = path}, plan);
  };
  int kept = 0;
  while (!insert(kept, 0)) ++kept;
  EXPECT_GT(kept, 7500);
  EXPECT_LT(kept, 8192);
  EXPECT_LT(plans_.bytes(), 2 * PlanCache::kPlanBytes);  // The last one is there.
  for (int i = 0; i < 250; ++i) EXPECT_FALSE(insert(i, 15'000));
  EXPECT_GT(plans_.bytes(), 7'500'000u);
  EXPECT_LE(plans_.bytes(), PlanCache::kMaxBytes);
}

TEST_F(PlanCacheTest, AuthorityAndPathTellCallsApart) {
  const auto plan = Plan();
  plans_.Insert({.address = {.routed_by = "a:1"}, .path = "/b"}, plan);
  EXPECT_EQ(plans_.Find({.address = {.routed_by = "a:1"}, .path = "/b"}), plan);
  EXPECT_EQ(plans_.Find({.address = {.routed_by = "a:2"}, .path = "/b"}), nullptr);
  EXPECT_EQ(plans_.Find({.address = {.routed_by = "a:1"}, .path = "/c"}), nullptr);
}

}  // namespace
}  // namespace levee
