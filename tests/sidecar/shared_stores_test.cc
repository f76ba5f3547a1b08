// SPDX-License-Identifier: Apache-2.0
// Sidecars that share a limit in a real redis-server, each with a thread for its stores.
#include "sidecar/shared_stores.h"

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "sidecar/one_sidecar.h"
#include "store/key_slot.h"
#include "store/redis_cluster.h"
#include "store/redis_process.h"
#include "store/sentinel_group.h"

namespace levee {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class SharedStoresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
    redis_ = std::make_unique<RedisProcess>();
  }

  static StoreSpec StoreAt(const RedisProcess& redis, absl::Duration timeout) {
    return {.name = "shared",
            .servers = {{"127.0.0.1", redis.port()}},
            .prefix = "levee:",
            .timeout = timeout};
  }

  std::unique_ptr<OneSidecar> Sidecar(double per_second, int burst,
                                      StoreAway away = StoreAway::kDeny,
                                      absl::Duration timeout = absl::Seconds(10)) {
    RateLimitPolicy policy{.name = "all", .per_second = per_second, .burst = burst};
    policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = away};
    return std::make_unique<OneSidecar>(StoreAt(*redis_, timeout), policy);
  }

  std::unique_ptr<RedisProcess> redis_;
};

constexpr double kPerHour = 1.0 / 3600;

TEST_F(SharedStoresTest, R1_SidecarsHaveTheRateTogether) {
  std::vector<std::unique_ptr<OneSidecar>> sidecars;
  int admitted = 0;
  for (int i = 0; i < 3; ++i) sidecars.push_back(Sidecar(kPerHour, 20));
  for (const auto& sidecar : sidecars) admitted += sidecar->Await(PermitLease::State::kLeased);
  for (int i = 0; i < 300; ++i) admitted += sidecars[static_cast<size_t>(i % 3)]->Call();
  // There is no lower bound: a slow machine lets leases expire unused.
  EXPECT_LE(admitted, 20);
}

TEST_F(SharedStoresTest, R1_NoCallBelowTheLimitIsRefused) {
  // No machine calls as fast as this.
  const auto one = Sidecar(1e8, 20'000'000);
  const auto other = Sidecar(1e8, 20'000'000);
  one->AwaitAdmission();
  other->AwaitAdmission();
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(one->Call());
    ASSERT_TRUE(other->Call());
  }
}

TEST_F(SharedStoresTest, R3_AnEmptiedRedisAnswersOn) {
  const auto sidecar = Sidecar(1e6, 200'000);
  sidecar->AwaitAdmission();
  for (int i = 0; i < 5; ++i) {
    redis_->Command({"FLUSHALL"});
    redis_->Command({"SCRIPT", "FLUSH"});
    for (int j = 0; j < 1000; ++j) ASSERT_TRUE(sidecar->Call());
  }
}

TEST_F(SharedStoresTest, R3_WithoutRedisASidecarGoesOnAtItsLastRateAndComesBack) {
  const auto sidecar = Sidecar(1e6, 200'000, StoreAway::kLast, absl::Milliseconds(200));
  const auto trouble = [&](const std::function<void()>& begin, const std::function<void()>& end) {
    sidecar->Await(PermitLease::State::kLeased);
    for (int i = 0; i < 5000; ++i) sidecar->Call();
    begin();
    sidecar->Await(PermitLease::State::kStale);
    int admitted = 0;
    for (int i = 0; i < 5000; ++i) admitted += sidecar->Call();
    EXPECT_GT(admitted, 0);
    end();
    sidecar->Await(PermitLease::State::kLeased);
  };
  trouble([&] { redis_->Kill(); }, [&] { redis_->Restart(); });
  trouble([&] { redis_->Signal(SIGSTOP); }, [&] { redis_->Signal(SIGCONT); });
}

TEST_F(SharedStoresTest, H6_WithoutRedisTheFirstCallOfEachNewKeyIsAdmitted) {
  RateLimitPolicy policy{.name = "all", .per_second = 100, .burst = 50};
  policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = StoreAway::kLast};
  policy.key = {RateLimitKey::Header("x-tenant")};
  policy.max_keys = 100;
  redis_->Kill();
  OneSidecar sidecar(StoreAt(*redis_, absl::Seconds(10)), policy);
  for (int i = 0; i < 20; ++i) {
    LimitKey key;
    key.Add("header:x-tenant", absl::StrCat("tenant-", i));
    EXPECT_TRUE(sidecar.Call(key)) << i;
  }
}

TEST_F(SharedStoresTest, H6_ALimitThatAReloadChangesWithoutRedisKnowsItsSidecars) {
  const auto other = Sidecar(1e6, 200'000);
  while (redis_->Command({"EXISTS", "levee:sidecars:p/all"}) != "1\n") {
  }
  const auto sidecar = Sidecar(1e6, 200'000);
  while (sidecar->limit()->sidecars() != 2) std::this_thread::yield();
  redis_->Kill();
  RateLimitPolicy changed = sidecar->limit()->policy();
  changed.burst = 100'000;
  const auto reloaded = std::make_shared<RateLimiter>(changed, &sidecar->stores());
  sidecar->stores().Configure({StoreAt(*redis_, absl::Seconds(10))}, {reloaded});
  while (reloaded->sidecars() != 2) std::this_thread::yield();
}

TEST_F(SharedStoresTest, R3_WithoutRedisALimitMayRefuseOrAdmitAll) {
  const auto deny = Sidecar(1e6, 200'000, StoreAway::kDeny, absl::Milliseconds(200));
  const auto allow = Sidecar(kPerHour, 1, StoreAway::kAllow, absl::Milliseconds(200));
  deny->Await(PermitLease::State::kLeased);
  redis_->Kill();
  deny->Await(PermitLease::State::kFallback);
  allow->Await(PermitLease::State::kFallback);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(deny->Call());
    EXPECT_TRUE(allow->Call());
  }
}

TEST_F(SharedStoresTest, AStoreThatGoesAwayAndComesBackIsToldOnceEach) {
  const auto sidecar = Sidecar(1e6, 200'000, StoreAway::kDeny, absl::Milliseconds(200));
  sidecar->Await(PermitLease::State::kLeased);
  redis_->Kill();
  sidecar->Await(PermitLease::State::kFallback);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(sidecar->Call());
  EXPECT_THAT(sidecar->AwaitEvents(1),
              ElementsAre(StartsWith("store_away: a store is unreachable store=shared reason=")));
  redis_->Restart();
  EXPECT_THAT(
      sidecar->AwaitEvents(2),
      ElementsAre(_, StartsWith("store_back: a store is reachable again store=shared seconds=")));
}

TEST_F(SharedStoresTest, AStoreThatIsNotThereAtTheStartIsToldOnceToo) {
  redis_->Kill();
  const auto sidecar = Sidecar(1e6, 200'000);
  sidecar->AwaitEvents(1);
  redis_->Restart();
  EXPECT_THAT(sidecar->AwaitEvents(2),
              ElementsAre("store_away: a store is unreachable store=shared reason=\"connection "
                          "refused\"",
                          StartsWith("store_back: ")));
}

TEST_F(SharedStoresTest, AStoreThatHangsIsToldWithItsReason) {
  const auto sidecar = Sidecar(1e6, 200'000, StoreAway::kDeny, absl::Milliseconds(200));
  sidecar->Await(PermitLease::State::kLeased);
  redis_->Signal(SIGSTOP);
  while (sidecar->limit()->LeaseState(net::ReadClock()) == PermitLease::State::kLeased) {
    sidecar->Call();
  }
  EXPECT_THAT(sidecar->AwaitEvents(1), ElementsAre(HasSubstr("reason=\"it does not answer\"")));
  redis_->Signal(SIGCONT);
  EXPECT_THAT(sidecar->AwaitEvents(2), ElementsAre(_, StartsWith("store_back: ")));
}

TEST_F(SharedStoresTest, AStoreIsShownWithItsServerAndSinceWhenItIsThere) {
  const Instant begun = net::ReadClock();
  const auto sidecar = Sidecar(1e6, 200'000);
  const StoreView there = sidecar->AwaitView([](const StoreView& view) { return view.connected; });
  EXPECT_EQ(there.name, "shared");
  EXPECT_EQ(there.kind, StoreView::Kind::kSingle);
  EXPECT_EQ(there.failure, "");
  EXPECT_GT(there.since, begun);
  const StoreView ready = sidecar->AwaitView(
      [](const StoreView& view) { return view.nodes.size() == 1 && view.nodes[0].ready; });
  EXPECT_EQ(ready.nodes[0].address, absl::StrCat("127.0.0.1:", redis_->port()));
  redis_->Kill();
  const StoreView away = sidecar->AwaitView(
      [](const StoreView& view) { return view.failure == "connection refused"; });
  EXPECT_FALSE(away.connected);
  EXPECT_GT(away.since, there.since);
  const StoreView node = sidecar->AwaitView(
      [](const StoreView& view) { return view.nodes.size() == 1 && !view.nodes[0].ready; });
  EXPECT_NE(node.nodes[0].failure, "");
}

TEST_F(SharedStoresTest, AStoreThatIsNotConfiguredAnyMoreIsNotShown) {
  const auto sidecar = Sidecar(1e6, 200'000);
  sidecar->AwaitView([](const StoreView& view) { return view.connected; });
  sidecar->stores().Configure({}, {});
  sidecar->AwaitNoView();
}

TEST_F(SharedStoresTest, ALimitShowsWhatItGotAndWhatItGoesByWithoutTheStore) {
  const auto sidecar = Sidecar(1e6, 200'000, StoreAway::kLast, absl::Milliseconds(200));
  sidecar->Await(PermitLease::State::kLeased);
  for (int i = 0; i < 1000; ++i) sidecar->Call();
  const RateLimiter::View leased = sidecar->limit()->ViewAt(net::ReadClock());
  EXPECT_EQ(leased.state, PermitLease::State::kLeased);
  EXPECT_GT(leased.granted_per_second, 0);
  redis_->Kill();
  sidecar->Await(PermitLease::State::kStale);
  const RateLimiter::View stale = sidecar->limit()->ViewAt(net::ReadClock());
  EXPECT_EQ(stale.state, PermitLease::State::kStale);
  ASSERT_TRUE(stale.holding.has_value());
  EXPECT_GT(stale.holding->own_rate, 0);
  EXPECT_LE(stale.holding->own_rate, 1e6);
}

TEST_F(SharedStoresTest, R4_TheKeysInRedisGo) {
  const auto sidecar = Sidecar(1000, 100);
  sidecar->Await(PermitLease::State::kLeased);
  sidecar->Call();
  while (redis_->Command({"EXISTS", "levee:rate:p/all:"}) == "1\n") {
  }
  EXPECT_NE(redis_->Command({"PTTL", "levee:sidecars:p/all"}), "-1\n");
}

TEST_F(SharedStoresTest, R4_TheKeysOfManyTenantsInRedisGo) {
  RateLimitPolicy policy{.name = "all", .per_second = 1000, .burst = 200};
  policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = StoreAway::kDeny};
  policy.key = {RateLimitKey::Header("x-tenant")};
  policy.max_keys = 100;
  OneSidecar sidecar(StoreAt(*redis_, absl::Seconds(10)), policy);
  for (int i = 0; i < 2000; ++i) {
    LimitKey key;
    key.Add("header:x-tenant", absl::StrCat("tenant-", i));
    sidecar.Call(key);
  }
  // What is left is who shares the limit.
  while (redis_->Command({"DBSIZE"}) != "1\n") {
  }
}

// The keys in a Redis are those of the server that decides. At one per second, a lease of a single
// permit leaves its key there for a second, however seldom a busy machine lets the test look.
RateLimitPolicy OneASecond() { return {.name = "all", .per_second = 1, .burst = 200'000}; }

TEST_F(SharedStoresTest, R3_ALimitIsDecidedByThePrimaryThatSentinelsHaveChosen) {
  const TemporaryFolder folder;
  SentinelGroup group(folder.Path("group"));
  StoreSpec store = StoreAt(*redis_, absl::Seconds(10));
  store.servers = group.sentinels();
  store.master = SentinelGroup::kMaster;
  RateLimitPolicy policy = OneASecond();
  policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = StoreAway::kLast};
  OneSidecar sidecar(store, policy);
  sidecar.Await(PermitLease::State::kLeased);
  group.KillPrimary();
  group.Command(group.primary(), {"FLUSHALL"});
  while (group.Command(group.primary(), {"EXISTS", "levee:rate:p/all:"}) != "1\n") sidecar.Call();
  sidecar.Await(PermitLease::State::kLeased);
}

TEST_F(SharedStoresTest, R3_ALimitIsDecidedByTheReplicaThatStandsInForItsNode) {
  const TemporaryFolder folder;
  const RedisCluster cluster(folder.Path("nodes"), {.replicas = 3});
  const size_t owner = cluster.OwnerOf(SlotOf("levee:rate:p/all:"));
  StoreSpec store = StoreAt(*redis_, absl::Seconds(10));
  store.servers = {cluster.address(0), cluster.address(1), cluster.address(2)};
  RateLimitPolicy policy = OneASecond();
  policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = StoreAway::kLast};
  OneSidecar sidecar(store, policy);
  sidecar.Await(PermitLease::State::kLeased);
  cluster.Kill(owner);
  const RedisProcess& replica = cluster.node(3 + owner);
  while (replica.Command({"ROLE"}).find("master") == std::string::npos) sidecar.Call();
  replica.Command({"FLUSHALL"});
  while (replica.Command({"EXISTS", "levee:rate:p/all:"}) != "1\n") sidecar.Call();
  sidecar.Await(PermitLease::State::kLeased);
}

TEST_F(SharedStoresTest, ALimitThatMovesToAnotherServerIsDecidedThere) {
  const auto sidecar = Sidecar(1e6, 200'000);
  sidecar->Await(PermitLease::State::kLeased);
  redis_->Kill();
  sidecar->Await(PermitLease::State::kFallback);
  const RedisProcess second;
  sidecar->stores().Configure({StoreAt(second, absl::Seconds(10))}, {sidecar->limit()});
  sidecar->AwaitAdmission();
}

TEST_F(SharedStoresTest, ALimitWithoutItsStoreHasNoAnswer) {
  const auto sidecar = Sidecar(1e6, 200'000);
  sidecar->Await(PermitLease::State::kLeased);
  sidecar->stores().Configure({}, {});
  sidecar->Await(PermitLease::State::kFallback);
}

}  // namespace
}  // namespace levee
