// SPDX-License-Identifier: Apache-2.0
// Endpoints that change while the sidecar runs: by a reload, and by a source that is not the
// configuration.
#include "sidecar/endpoint_source.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "config/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "sidecar/configured_endpoints.h"
#include "sidecar/sidecar_thread.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Servers = std::vector<const TestServer*>;

std::shared_ptr<const EndpointList> ListOf(const Servers& servers) {
  auto endpoints = std::make_shared<EndpointList>();
  for (const TestServer* server : servers) {
    endpoints->push_back({.host = "127.0.0.1", .port = server->address().port(), .path = ""});
  }
  return endpoints;
}

// Two upstreams with a rate limit of six calls in all, which takes an hour to allow another one,
// and with a retry for each call.
constexpr char kLimited[] =
    "{name: default, retry: {max_attempts: 1, budget: {ratio: 1, window: 1h, floor: "
    "{per_second: 0}}}, rate_limit: [{name: r, rate: 1/h, burst: 6}]}";
constexpr char kUnlimited[] = "{name: default, retry: {max_attempts: 1}}";

std::shared_ptr<const Snapshot> Parse(const TestServer& shop, const TestServer& cart,
                                      const std::string& policy = kLimited) {
  auto snapshot = ParseConfig(
      "f", absl::StrCat("listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
                        "upstreams:\n"
                        "  - {name: shop, endpoints: [\"",
                        shop.address().ToString(),
                        "\"]}\n"
                        "  - {name: cart, endpoints: [\"",
                        cart.address().ToString(),
                        "\"]}\n"
                        "routes: [{match: {method: /cart.*}, upstream: cart}, {upstream: shop}]\n"
                        "policies: [",
                        policy, "]\n"));
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return *snapshot;
}

// The same, but another source than the configuration knows the shop's endpoints.
std::shared_ptr<const Snapshot> ParseWithoutShop(const TestServer& cart,
                                                 const std::string& policy = kUnlimited) {
  auto snapshot = std::make_shared<Snapshot>(*Parse(cart, cart, policy));
  snapshot->endpoints.erase("shop");
  return snapshot;
}

// Returns grpc-status and grpc-message of a call through the sidecar that `run` has open.
std::string StatusOf(PoolRun& run, const std::string& path) {
  TestCall call(*run.pool);
  call.path = path;
  call.Start();
  run.Until([&] { return call.ended; });
  return call.status;
}

class FakeSource final : public EndpointSource {
 public:
  void Start(Tell tell) override { tell_ = std::move(tell); }
  void Say(const std::string& upstream, const Servers& servers) {
    tell_(upstream, ListOf(servers));
  }

 private:
  Tell tell_;
};

double BudgetOf(SidecarThread& sidecar, const std::string& upstream) {
  for (const BudgetGauges& budget : sidecar->budgets()) {
    if (budget.upstream == upstream) return budget.available;
  }
  return -1;
}

// Each plan holds the snapshot that it was made of, and so do each worker and the sidecar, whose
// budgets and limits are made of its policies. So the number of its holders tells whether plans
// were forgotten, and which snapshot new ones are made of. Waits until the snapshot has this many
// besides the test; a task that brought it to a worker may still be one.
void AwaitHolders(const std::shared_ptr<const Snapshot>& snapshot, int workers, int plans) {
  const int sidecars = workers > 0 ? 1 : 0;
  while (snapshot.use_count() != 1 + sidecars + workers + plans) std::this_thread::yield();
}

TEST(EndpointChange, AReloadOfOneEndpointForgetsNoPlanBudgetOrRateLimit) {
  PoolRun run;
  TestServer& old_shop = run.Serve();
  TestServer& new_shop = run.Serve();
  TestServer& cart = run.Serve();
  auto before = Parse(old_shop, cart);
  auto after = Parse(new_shop, cart);
  SidecarThread sidecar(before, 2);
  run.Open({sidecar.target()});
  for (const char* path : {"/shop.S/A", "/shop.S/B", "/cart.S/A"}) {
    EXPECT_EQ(StatusOf(run, path), "0 ");
  }
  old_shop.Hold();
  TestCall running(*run.pool);
  running.path = "/shop.S/A";
  running.Start();
  run.Until([&] { return old_shop.calls() == 3; });
  AwaitHolders(before, /*workers=*/2, /*plans=*/3);
  const double shop_budget = BudgetOf(sidecar, "shop");
  EXPECT_EQ(shop_budget, 3);

  EXPECT_TRUE(sidecar.Reload(after).ok());
  AwaitHolders(before, /*workers=*/2, /*plans=*/3);
  AwaitHolders(after, /*workers=*/0, /*plans=*/0);
  EXPECT_EQ(BudgetOf(sidecar, "shop"), shop_budget);
  EXPECT_EQ(BudgetOf(sidecar, "cart"), 1);
  EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
  EXPECT_EQ(new_shop.calls(), 1);
  EXPECT_EQ(StatusOf(run, "/cart.S/A"), "0 ");
  EXPECT_EQ(cart.accepted(), 1);
  AwaitHolders(before, /*workers=*/2, /*plans=*/3);
  EXPECT_THAT(StatusOf(run, "/shop.S/A"), HasSubstr("8 ")) << "the seventh call of six";

  old_shop.Release();
  run.Until([&] { return running.answered; });
  EXPECT_EQ(running.status, "0 ");
  EXPECT_EQ(old_shop.calls(), 3);
  run.Until([&] { return old_shop.connections() == 0; });
}

TEST(EndpointChange, AReloadOfAnythingElseForgetsThePlans) {
  PoolRun run;
  TestServer& server = run.Serve();
  auto before = Parse(server, server);
  auto after = Parse(server, server, kUnlimited);
  SidecarThread sidecar(before, 1);
  run.Open({sidecar.target()});
  StatusOf(run, "/shop.S/A");
  AwaitHolders(before, /*workers=*/1, /*plans=*/1);
  EXPECT_TRUE(sidecar.Reload(after).ok());
  AwaitHolders(before, /*workers=*/0, /*plans=*/0);
  AwaitHolders(after, /*workers=*/1, /*plans=*/0);
}

TEST(EndpointChange, AnUpstreamThatWasTakenAwayComesBackWithItsEndpoints) {
  PoolRun run;
  TestServer& server = run.Serve();
  const auto both = Parse(server, server, kUnlimited);
  auto parsed = ParseConfig(
      "f", absl::StrCat("listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
                        "upstreams: [{name: cart, endpoints: [\"",
                        server.address().ToString(), "\"]}]\nroutes: [{upstream: cart}]\n"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  SidecarThread sidecar(both, 1);
  run.Open({sidecar.target()});
  for (const auto& snapshot : {*parsed, both}) {
    EXPECT_TRUE(sidecar.Reload(snapshot).ok());
    EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
  }
}

TEST(EndpointChange, CallsGoWhereASourceSaysWhileItChangesItsMind) {
  PoolRun run;  // Both the caller and the services, in this thread.
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  TestServer& cart = run.Serve();
  FakeSource source;
  auto snapshot = ParseWithoutShop(cart);
  SidecarThread sidecar(snapshot, 2, &source);
  run.Open({sidecar.target()});
  source.Say("shop", {&first});
  EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
  EXPECT_EQ(StatusOf(run, "/cart.S/A"), "0 ");
  AwaitHolders(snapshot, /*workers=*/2, /*plans=*/2);
  std::atomic<bool> done = false;
  std::thread changing([&] {
    for (int i = 0; i < 300; ++i) {
      source.Say("shop", i % 3 == 0   ? Servers{&second}
                         : i % 3 == 1 ? Servers{&second, &first}
                                      : Servers{&first});
    }
    source.Say("shop", {&second});
    done = true;
  });
  int calls = 1;
  while (!done || calls < 10) {
    EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
    ++calls;
  }
  changing.join();
  run.Until([&] { return first.connections() == 0; });
  const int before = first.calls();
  EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
  EXPECT_EQ(first.calls(), before);
  EXPECT_EQ(first.calls() + second.calls(), calls + 1);
  EXPECT_EQ(StatusOf(run, "/cart.S/A"), "0 ");
  EXPECT_EQ(cart.accepted(), 1);
  AwaitHolders(snapshot, /*workers=*/2, /*plans=*/2);
}

TEST(EndpointChange, CallsFailWhileTheSourceKnowsNoEndpoint) {
  PoolRun run;
  TestServer& server = run.Serve();
  FakeSource source;
  SidecarThread sidecar(ParseWithoutShop(server), 1, &source);
  run.Open({sidecar.target()});
  const auto nowhere = [&] {
    EXPECT_THAT(StatusOf(run, "/shop.S/A"), HasSubstr("there is no endpoint"));
  };
  nowhere();
  source.Say("shop", {&server});
  EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
  source.Say("shop", {});
  nowhere();
}

TEST(EndpointChange, AReloadLeavesTheEndpointsOfOtherSourcesAlone) {
  PoolRun run;
  TestServer& shop = run.Serve();
  TestServer& old_cart = run.Serve();
  TestServer& new_cart = run.Serve();
  FakeSource source;
  SidecarThread sidecar(ParseWithoutShop(old_cart), 1, &source);
  run.Open({sidecar.target()});
  source.Say("shop", {&shop});
  // The second one makes the sidecar connect anew.
  auto other = std::make_shared<Snapshot>(*ParseWithoutShop(new_cart, kLimited));
  other->upstreams.at(0).connect_timeout = absl::Seconds(20);
  for (const auto& next : {ParseWithoutShop(new_cart), std::shared_ptr<const Snapshot>(other)}) {
    EXPECT_TRUE(sidecar.Reload(next).ok());
    EXPECT_EQ(StatusOf(run, "/shop.S/A"), "0 ");
    EXPECT_EQ(StatusOf(run, "/cart.S/A"), "0 ");
  }
  EXPECT_EQ(shop.accepted(), 2);
  EXPECT_EQ(old_cart.calls(), 0);
  EXPECT_EQ(new_cart.calls(), 2);
}

TEST(ConfiguredEndpoints, TellsOfUpstreamsThatAreNewOrHaveChanged) {
  const auto one = [](const char* host) {
    return std::make_shared<const EndpointList>(1, EndpointSpec{.host = host, .port = 1});
  };
  ConfiguredEndpoints source;
  std::vector<std::string> told;
  source.Start([&](const std::string& upstream, const auto& endpoints) {
    told.push_back(upstream + " " + endpoints->at(0).host);
  });
  const auto after = [&](const EndpointLists& endpoints) {
    told.clear();
    source.Set(endpoints);
    return told;
  };
  EXPECT_THAT(after({{"a", one("x")}, {"b", one("y")}}), ElementsAre("a x", "b y"));
  EXPECT_THAT(after({{"a", one("x")}, {"b", one("z")}}), ElementsAre("b z"));
  EXPECT_THAT(after({{"b", one("z")}}), IsEmpty());
  EXPECT_THAT(after({{"a", one("x")}, {"b", one("z")}}), ElementsAre("a x"));
}

}  // namespace
}  // namespace levee
