// SPDX-License-Identifier: Apache-2.0
// What is said of the guards of an upstream together.
#include "guard/guard_table.h"

#include <memory>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr Instant kNow = Instant::FromNanos(1'000'000'000);

GuardPolicy OfSlots(int slots, bool observe = false) {
  GuardPolicy policy;
  policy.concurrency.kind = ConcurrencyPolicy::Kind::kFixed;
  policy.concurrency.fixed = slots;
  policy.observe = observe;
  return policy;
}

class GuardTableTest : public testing::Test {
 protected:
  GuardView View() { return table_.Views(kNow).at("app"); }

  GuardTable table_{1, [](int) {}};
};

TEST_F(GuardTableTest, TheGuardsOfAnUpstreamAreShownAsTheirSumWhileTheyLive) {
  std::shared_ptr<Guard> one = table_.Get("app", OfSlots(3));
  const std::shared_ptr<Guard> other = table_.Get("app", OfSlots(5));
  EXPECT_TRUE(one->TryEnter(0, 0, kNow));
  EXPECT_EQ(View().limit, 8);
  EXPECT_EQ(View().in_flight, 1);
  one.reset();
  EXPECT_EQ(View().limit, 5);
  EXPECT_EQ(table_.Views(kNow).count("shop"), 0);
}

TEST_F(GuardTableTest, AnUpstreamIsOnlyObservedIfAllItsGuardsObserve) {
  const std::shared_ptr<Guard> one = table_.Get("app", OfSlots(3, /*observe=*/true));
  const std::shared_ptr<Guard> other = table_.Get("app", OfSlots(5, /*observe=*/true));
  EXPECT_TRUE(View().observes);
  const std::shared_ptr<Guard> acts = table_.Get("app", OfSlots(7));
  EXPECT_FALSE(View().observes);
  const std::shared_ptr<Guard> later = table_.Get("app", OfSlots(9, /*observe=*/true));
  EXPECT_FALSE(View().observes);
}

TEST_F(GuardTableTest, TheScopeThatIsShownIsThatOfARefusalAtThatTime) {
  const std::shared_ptr<Guard> quiet = table_.Get("app", OfSlots(9));
  const std::shared_ptr<Guard> guard = table_.Get("app", OfSlots(1000));
  for (int call = 0; call < 20; ++call) guard->TryEnter(0, /*previous=*/0, kNow);
  EXPECT_EQ(View().scope, OverloadScope::kEndpoint);
  for (int call = 0; call < 5; ++call) guard->TryEnter(0, /*previous=*/1, kNow);
  EXPECT_EQ(View().scope, OverloadScope::kService);
  EXPECT_EQ(table_.Views(kNow + absl::Minutes(1)).at("app").scope, OverloadScope::kEndpoint);
}

}  // namespace
}  // namespace levee
