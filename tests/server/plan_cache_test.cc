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

TEST(PlanCache, CallsThatWereGoingElsewhereHavePlansOfTheirOwn) {
  PlanCache plans;
  const PlanKey plain{.address = {.routed_by = "cart.shop:1"}, .path = "/a.B/C"};
  const PlanKey first{.address = {.routed_by = "cart.shop:1", .original = "10.0.0.7:1"},
                      .path = "/a.B/C"};
  const PlanKey second{.address = {.routed_by = "cart.shop:1", .original = "10.0.0.8:1"},
                       .path = "/a.B/C"};
  for (const PlanKey& key : {plain, first, second}) {
    EXPECT_EQ(plans.Find(key), nullptr);
    plans.Insert(key, std::make_shared<CallPlan>());
  }
  EXPECT_NE(plans.Find(plain), plans.Find(first));
  EXPECT_NE(plans.Find(plain), plans.Find(second));
  EXPECT_NE(plans.Find(first), plans.Find(second));
}

TEST(PlanCache, TheSameCallOnAnotherListenerOrInAnotherDirectionHasAPlanOfItsOwn) {
  PlanCache plans;
  std::set<std::shared_ptr<CallPlan>> made;
  for (const int listener : {ListenerRef::kNone, 0, 1}) {
    for (const Direction direction : {Direction::kEgress, Direction::kInbound}) {
      const PlanKey key{
          .listener = {listener, direction}, .address = {.routed_by = "a:1"}, .path = "/b"};
      EXPECT_EQ(plans.Find(key), nullptr);
      plans.Insert(key, std::make_shared<CallPlan>());
      made.insert(plans.Find(key));
    }
  }
  EXPECT_EQ(made.size(), 6u);
}

TEST(PlanCache, ThePlansTakeAtMostEightMebibytes) {
  PlanCache plans;
  const auto plan = std::make_shared<CallPlan>();
  const auto insert = [&](int i, size_t size) {
    const std::string path = std::string(size, 'p') + std::to_string(i);
    return plans.Insert({.address = {.routed_by = "a:1"}, .path = path}, plan);
  };
  int kept = 0;
  while (!insert(kept, 0)) ++kept;
  EXPECT_GT(kept, 7500);
  EXPECT_LT(kept, 8192);
  EXPECT_LT(plans.bytes(), 2 * PlanCache::kPlanBytes);  // The last one is there.
  for (int i = 0; i < 250; ++i) EXPECT_FALSE(insert(i, 15'000));
  EXPECT_GT(plans.bytes(), 7'500'000u);
  EXPECT_LE(plans.bytes(), PlanCache::kMaxBytes);
}

TEST(PlanCache, AuthorityAndPathTellCallsApart) {
  PlanCache plans;
  const auto plan = std::make_shared<CallPlan>();
  plans.Insert({.address = {.routed_by = "a:1"}, .path = "/b"}, plan);
  EXPECT_EQ(plans.Find({.address = {.routed_by = "a:1"}, .path = "/b"}), plan);
  EXPECT_EQ(plans.Find({.address = {.routed_by = "a:2"}, .path = "/b"}), nullptr);
  EXPECT_EQ(plans.Find({.address = {.routed_by = "a:1"}, .path = "/c"}), nullptr);
}

}  // namespace
}  // namespace levee
