// SPDX-License-Identifier: Apache-2.0
// What the state says of stores, shared limits and idempotency keys.
#include "admin/shared_message.h"

#include <string>

#include "admin/fake_sidecar.h"
#include "admin/state_keeper.h"
#include "admin/state_message.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class SharedMessage : public testing::Test {
 protected:
  admin::v1::Sidecar Read() { return keeper_.Read({})->sidecar(); }

  // Three requests a second that took 400 us, and one that had no reply.
  void Ask() {
    StoreSeries& series = fake_.metrics.Store("shared");
    for (int i = 0; i < 3; ++i) {
      series.requests[StoreResult::kOk].Add();
      series.seconds.Observe(absl::ToInt64Nanoseconds(absl::Microseconds(400)));
    }
    series.requests[StoreResult::kTimeout].Add();
  }

  FakeSidecar fake_;
  StateKeeper keeper_{fake_, "instance"};
  StoreView store_{
      .name = "shared",
      .kind = StoreView::Kind::kCluster,
      .connected = false,
      .since = fake_.At(5),
      .failure = "10.0.0.8:6379: connection refused",
      .nodes = {{"10.0.0.7:6379", true, ""}, {"10.0.0.8:6379", false, "connection refused"}}};
};

TEST_F(SharedMessage, AStoreHasItsNodesAndSinceWhenItIsAway) {
  fake_.SetShared({store_}, {});
  const admin::v1::Sidecar sidecar = Read();
  ASSERT_THAT(sidecar.stores(), SizeIs(1));
  const admin::v1::Store& store = sidecar.stores(0);
  EXPECT_EQ(store.name(), "shared");
  EXPECT_EQ(store.kind(), "cluster");
  EXPECT_FALSE(store.connected());
  EXPECT_EQ(store.since(), 1767225605);
  EXPECT_EQ(store.failure(), "10.0.0.8:6379: connection refused");
  ASSERT_THAT(store.nodes(), SizeIs(2));
  EXPECT_TRUE(store.nodes(0).ready());
  EXPECT_EQ(store.nodes(1).address(), "10.0.0.8:6379");
  EXPECT_EQ(store.nodes(1).failure(), "connection refused");
  EXPECT_THAT(store.requests_per_second(), IsEmpty());
  EXPECT_EQ(store.p99_seconds(), 0);
}

TEST_F(SharedMessage, AStoreHasTheRequestsOfTheLastTenSeconds) {
  fake_.SetShared({store_}, {});
  for (int second = 0; second <= 20; ++second) {
    Ask();
    keeper_.Tick(fake_.At(second));
  }
  const admin::v1::Store store = Read().stores(0);
  EXPECT_THAT(store.requests_per_second(), UnorderedElementsAre(Pair("ok", 3), Pair("timeout", 1)));
  EXPECT_GT(store.p50_seconds(), 0.0002);
  EXPECT_GT(store.p99_seconds(), store.p50_seconds());
  EXPECT_LE(store.p99_seconds(), 0.001);
  for (int second = 21; second <= 31; ++second) keeper_.Tick(fake_.At(second));
  EXPECT_THAT(Read().stores(0).requests_per_second(), IsEmpty());
}

TEST_F(SharedMessage, OfManyNodesThoseThatAreAwayComeFirst) {
  store_.nodes.assign(kMaxStoreNodes + 10, {"10.0.0.7:6379", true, ""});
  store_.nodes.back() = {"10.0.0.99:6379", false, "connection refused"};
  fake_.SetShared({store_}, {});
  const admin::v1::Store store = Read().stores(0);
  ASSERT_THAT(store.nodes(), SizeIs(kMaxStoreNodes));
  EXPECT_EQ(store.nodes_left_out(), 10);
  EXPECT_EQ(store.nodes(0).address(), "10.0.0.99:6379");
}

TEST_F(SharedMessage, WhatAStoreWroteIsCutAndMadeUtf8) {
  store_.failure = std::string(5000, 'x') + "\xff";
  store_.nodes[1].failure = "\xff";
  fake_.SetShared({store_}, {});
  const admin::v1::Store store = Read().stores(0);
  EXPECT_THAT(store.failure(), SizeIs(kMaxTextBytes));
  EXPECT_EQ(store.nodes(1).failure(), "\xEF\xBF\xBD");
}

TEST_F(SharedMessage, ALimitSaysWhoDecidesAndWhatItHas) {
  fake_.SetShared(
      {}, {{.policy = "default",
            .limit = "tenant",
            .store = "shared",
            .on_failure = "last",
            .state = LeaseState::kStale,
            .per_second = 12.5,
            .permits_left = 7,
            .keys = 3},
           {.policy = "default", .limit = "all", .store = "shared", .on_failure = "allow"}});
  const admin::v1::Sidecar sidecar = Read();
  ASSERT_THAT(sidecar.shared_limits(), SizeIs(2));
  const admin::v1::SharedLimit& limit = sidecar.shared_limits(0);
  EXPECT_EQ(limit.policy(), "default");
  EXPECT_EQ(limit.limit(), "tenant");
  EXPECT_EQ(limit.store(), "shared");
  EXPECT_EQ(limit.state(), "stale");
  EXPECT_EQ(limit.on_failure(), "last");
  EXPECT_EQ(limit.per_second(), 12.5);
  EXPECT_EQ(limit.permits_left(), 7);
  EXPECT_EQ(limit.keys(), 3);
  EXPECT_FALSE(sidecar.shared_limits(1).has_per_second());
  EXPECT_FALSE(sidecar.shared_limits(1).has_permits_left());
}

TEST_F(SharedMessage, KeysSayHowManyCallsHaveOneAndWhatBecameOfTheOthers) {
  EXPECT_THAT(Read().keys().at("cart").results(), IsEmpty());
  fake_.metrics.Dedupe(0, "cart").calls[DedupeResult::kFirst].Add(5);
  fake_.metrics.Dedupe(1, "cart").calls[DedupeResult::kFirst].Add(2);
  fake_.metrics.Dedupe(1, "cart").calls[DedupeResult::kStoreFailed].Add();
  const admin::v1::Keys keys = Read().keys().at("cart");
  EXPECT_EQ(keys.keys(), 3);
  EXPECT_EQ(keys.in_flight(), 2);
  EXPECT_THAT(keys.results(), UnorderedElementsAre(Pair("first", 7), Pair("store_failed", 1)));
}

}  // namespace
}  // namespace levee
