// SPDX-License-Identifier: Apache-2.0
// A sidecar that is reloaded and looked at from other threads while it carries calls.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/load.h"
#include "gtest/gtest.h"
#include "sidecar/sidecar_thread.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

std::shared_ptr<const Snapshot> Parse(const std::string& endpoint, int attempts,
                                      const std::string& more = "") {
  auto snapshot = ParseConfig(
      "f", "listeners: [{name: egress, address: \"127.0.0.1:0\"}" + more +
               "]\nupstreams: [{name: shop, endpoints: [\"" + endpoint +
               "\"]}]\nroutes: [{upstream: shop}]\npolicies: [{name: default, retry: "
               "{max_attempts: " +
               std::to_string(attempts) + "}, rate_limit: [{name: r, rate: 1000000/s, burst: " +
               std::to_string(1000 + attempts) + "}]}]\n");
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return *snapshot;
}

TEST(Sidecar, IsReloadedAndLookedAtWhileItsWorkersCarryCalls) {
  PoolRun run;  // Both the caller and the services, in this thread.
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  SidecarThread sidecar(Parse(first.address().ToString(), 2), 2);
  run.Open({{.host = "127.0.0.1", .port = sidecar.address().port(), .path = ""}});
  std::atomic<bool> done = false;
  std::thread reloading([&] {
    for (int i = 0; i < 50; ++i) {
      const TestServer& to = i % 2 == 0 ? second : first;
      EXPECT_TRUE(sidecar.Reload(Parse(to.address().ToString(), 3 + i % 3)).ok());
    }
    done = true;
  });
  std::thread looking([&] {
    while (!done) {
      EXPECT_LE(sidecar->endpoints().size(), 4u);
      sidecar.metrics().Scrape();
      sidecar->budgets();
    }
  });
  int calls = 0;
  while (!done || calls < 10) {
    run.CallOne();
    ++calls;
  }
  reloading.join();
  looking.join();
  EXPECT_EQ(first.calls() + second.calls(), calls);
}

// Routes have no YAML for listeners yet.
TEST(Sidecar, ACallIsRoutedByItsListenerAlsoWhenAReloadPutsTheListenersInAnotherOrder) {
  PoolRun run;
  TestServer& first = run.Serve();
  TestServer& second = run.Serve();
  // The listener "a" leads to the first server.
  const auto snapshot_of = [&](const std::vector<std::string>& listeners) {
    std::string texts;
    for (const std::string& name : listeners) {
      texts += (texts.empty() ? "" : ", ") + ("{name: " + name + ", address: \"127.0.0.1:0\"}");
    }
    auto parsed =
        ParseConfig("f", "listeners: [" + texts + "]\nupstreams: [{name: shop, endpoints: [\"" +
                             first.address().ToString() + "\"]}, {name: other, endpoints: [\"" +
                             second.address().ToString() + "\"]}]\nroutes: [{upstream: shop}]\n");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    auto snapshot = std::make_shared<Snapshot>(**parsed);
    const int of_a = snapshot->ListenerRefOf({.name = "a"}).index;
    snapshot->routes = RouteTable({{.upstream = 0, .listener = {.index = of_a}}, {.upstream = 1}});
    return snapshot;
  };
  SidecarThread sidecar(snapshot_of({"a", "b"}), 1);
  const auto listeners = sidecar->listeners();
  ASSERT_EQ(listeners.size(), 2u);
  const auto pool_to = [&](const net::Address& address) {
    run.Open({{.host = "127.0.0.1", .port = address.port(), .path = ""}});
    return std::move(run.pool);
  };
  const std::unique_ptr<Pool> to_a = pool_to(listeners[0].address);
  const std::unique_ptr<Pool> to_b = pool_to(listeners[1].address);
  const auto call = [&](Pool& pool) {
    TestCall one(pool);
    one.Start();
    run.Until([&] { return one.ended; });
  };
  call(*to_a);
  EXPECT_EQ(first.calls(), 1);
  call(*to_b);
  EXPECT_EQ(second.calls(), 1);
  ASSERT_TRUE(sidecar.Reload(snapshot_of({"b", "a"})).ok());
  call(*to_a);
  EXPECT_EQ(first.calls(), 2);
  call(*to_b);
  EXPECT_EQ(second.calls(), 2);
  EXPECT_EQ(first.accepted() + second.accepted(), 2);
}

TEST(Sidecar, AReloadDuringTheDrainIsRefused) {
  PoolRun run;
  TestServer& server = run.Serve();
  const auto snapshot = Parse(server.address().ToString(), 2);
  SidecarThread sidecar(snapshot, 1);
  EXPECT_TRUE(sidecar.Reload(snapshot).ok());
  // The drain lasts as long as a call, however long it takes to look at it.
  server.Hold();
  TestCall call(run.Open({{.host = "127.0.0.1", .port = sidecar.address().port(), .path = ""}}));
  call.Start();
  run.Until([&] { return server.calls() == 1; });
  EXPECT_TRUE(sidecar->StartDrain());
  EXPECT_FALSE(sidecar->StartDrain());
  EXPECT_TRUE(sidecar->draining());
  EXPECT_EQ(sidecar.Reload(snapshot).message(), "the sidecar is draining");
  EXPECT_FALSE(sidecar->ready());
  server.Release();
  run.Until([&] { return call.answered; });
}

}  // namespace
}  // namespace levee
