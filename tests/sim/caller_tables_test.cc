// SPDX-License-Identifier: Apache-2.0
// The tables of a worker that its callers fill by what they name.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/block_cache.h"
#include "config/load.h"
#include "net/closed_port.h"
#include "net/memory_limit.h"
#include "settings/snapshot.h"
#include "virtual/session_peer.h"
#include "virtual/virtual_time.h"
#include "virtual/virtual_worker.h"

namespace levee {
namespace {

constexpr int64_t kMuchMemory = int64_t{1} << 30;
constexpr size_t kLongest = 261;

// Makes calls one after the other, and keeps how the last one ended.
class NamingCaller final : public SessionPeer, private h2::StreamHandler {
 public:
  explicit NamingCaller(int fd) : SessionPeer(h2::Session::Role::kClient, fd) {}

  void Call(const std::string& authority, const std::string& path) {
    ended_ = false;
    h2::Stream& stream = session().Open(*this);
    Metadata& head = stream.head();
    head.Add(":method", "POST");
    head.Add(":scheme", "http");
    head.Add(":path", path);
    head.Add(":authority", authority);
    head.Add("te", "trailers");
    head.Add("content-type", "application/grpc");
    stream.SendHead(/*end=*/true);
  }
  bool ended() const { return ended_; }
  const std::string& status() const { return status_; }

 private:
  void OnHead(Metadata& head, bool) override {
    status_ = std::string(head.Get("grpc-status")) + " " + std::string(head.Get("grpc-message"));
  }
  void OnData(const Chunk&) override {}
  void OnEnd(Metadata*) override {}
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override { ended_ = true; }

  bool ended_ = false;
  std::string status_;
};

// The upstream of honest calls: each is answered at once.
class HonestService final : public SessionPeer {
 public:
  explicit HonestService(int fd) : SessionPeer(h2::Session::Role::kServer, fd) {}

 private:
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata&, bool) override {
    stream.head().Add(":status", "200");
    stream.head().Add("content-type", "application/grpc");
    stream.head().Add("grpc-status", "0");
    stream.SendHead(/*end=*/true);
    stream.Detach();
    return nullptr;
  }
};

// A worker whose calls of /honest.Service/* go to one upstream, and all others where their
// :authority says.
class CallerTables : public testing::Test {
 protected:
  CallerTables() {
    VirtualTime::Restart();
    auto snapshot = std::make_shared<Snapshot>(**ParseConfig("tables", R"(
upstreams:
- {name: honest, endpoints: ["127.0.0.1:1"]}
- {name: named, endpoints: ["authority:"]}
policies: [{name: once, retry: {max_attempts: 1}, throttle: {}}]
routes:
- {match: {method: "/honest.Service/*"}, upstream: honest, policy: once}
- {upstream: named, policy: once}
)"));
    auto endpoints = std::make_shared<EndpointList>();
    endpoints->push_back({.kind = EndpointSpec::Kind::kUnix, .host = "", .path = end_.path()});
    worker_ = std::make_unique<VirtualWorker>(snapshot, "honest", std::move(endpoints));
    worker_->memory().SetLimit(kMuchMemory);
    caller_ = std::make_unique<NamingCaller>(worker_->Connect());
    EXPECT_EQ(HonestCall(), "0 ");
  }

  void Step() {
    if (const int fd = end_.Accept(); fd >= 0) service_ = std::make_unique<HonestService>(fd);
    if (service_ != nullptr) service_->Pump();
    caller_->Pump();
    worker_->Turn();
    VirtualTime::Advance(absl::Milliseconds(1));
  }

  // Returns the status and message of a call.
  std::string Call(const std::string& authority, const std::string& path = "/a.B/C") {
    caller_->Call(authority, path);
    while (!caller_->ended()) Step();
    return caller_->status();
  }
  std::string HonestCall() { return Call("honest", "/honest.Service/Call"); }

  // An authority of so many bytes that leads to a port on which nobody listens.
  std::string Authority(int number, size_t size = 60) const {
    const std::string end = absl::StrCat(".", number, ".localhost:", closed_.port());
    return std::string(size - end.size(), 'a') + end;
  }

  // The authorities that the worker has a destination for.
  std::set<std::string> Named() {
    std::set<std::string> named;
    worker_->worker().PostView([&](const std::vector<EndpointView>& views) {
      for (const EndpointView& view : views) {
        if (!view.authority.empty()) named.insert(view.authority);
      }
    });
    worker_->Turn();
    return named;
  }

  // The process is measured, and holds that share of what it may.
  void Hold(double share) {
    MemoryAccount& memory = worker_->memory();
    const int64_t freed = AllocatedBlockBytes() + 2 * FreedBlockBytes();
    memory.MustMeasure(kMuchMemory, freed);  // It has been.
    memory.SetOther(static_cast<int64_t>(share * static_cast<double>(memory.limit())));
  }

  const ClosedPort closed_;
  const VirtualEndpoint end_;
  std::unique_ptr<HonestService> service_;
  std::unique_ptr<VirtualWorker> worker_;
  std::unique_ptr<NamingCaller> caller_;
};

TEST_F(CallerTables, AnAuthorityThatNoHostAndPortCanBeIsRefusedAndNothingIsMadeOfIt) {
  EXPECT_EQ(Call(Authority(1, kLongest + 1)),
            "12 the call's authority is longer than a host name and a port can be (261 bytes)");
  EXPECT_EQ(Call(Authority(2, 15'000)), caller_->status());
  EXPECT_TRUE(Named().empty());
  EXPECT_EQ(Call(Authority(3, kLongest)).substr(0, 3), "14 ");
  EXPECT_EQ(Named(), (std::set{Authority(3, kLongest)}));
}

TEST_F(CallerTables, WhatADestinationIsCountedWithIsWhatItTakes) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer has another malloc";
  constexpr int kMany = 300;
  Call(Authority(0, kLongest));
  ReleaseFreeBlocks();
  const size_t before = mallinfo2().uordblks;
  for (int i = 1; i <= kMany; ++i) Call(Authority(i, kLongest));
  ReleaseFreeBlocks();
  const size_t each = (mallinfo2().uordblks - before) / kMany;
  EXPECT_LT(each, DestinationTable::kBytes + PlanCache::kPlanBytes + 3 * kLongest);
  EXPECT_GT(each, DestinationTable::kBytes * 3 / 4);
}

TEST_F(CallerTables, TheDestinationsOfCallsTakeAnEighthOfTheMemoryAndTheOldestGoes) {
  worker_->memory().SetLimit(8 * DestinationTable::kBytes * 20);
  worker_->ApplyAgain();
  worker_->memory().SetLimit(kMuchMemory);  // So that nothing else refuses a call.
  worker_->Turn();
  for (int i = 0; i < 20; ++i) Call(Authority(i));
  EXPECT_EQ(Named().size(), 20u);
  EXPECT_EQ(worker_->hits(Limit::kDestinations), 0u);
  Call(Authority(0));
  Call(Authority(20));
  EXPECT_EQ(worker_->hits(Limit::kDestinations), 1u);
  const std::set<std::string> named = Named();
  EXPECT_EQ(named.size(), 19u);  // A tenth goes at a time.
  EXPECT_TRUE(named.contains(Authority(0)));
  EXPECT_FALSE(named.contains(Authority(1)));
  EXPECT_TRUE(named.contains(Authority(20)));
  EXPECT_EQ(HonestCall(), "0 ");
}

TEST_F(CallerTables, ADestinationWithoutACallForTenMinutesGoes) {
  Call(Authority(1));
  VirtualTime::Advance(absl::Minutes(6));
  worker_->Turn();
  Call(Authority(2));
  EXPECT_EQ(Named().size(), 2u);
  VirtualTime::Advance(absl::Minutes(5));
  worker_->Turn();
  EXPECT_EQ(Named(), std::set{Authority(2)});
  VirtualTime::Advance(absl::Minutes(6));
  worker_->Turn();
  EXPECT_TRUE(Named().empty());
  VirtualTime::Advance(absl::Minutes(1));
  worker_->Turn();
  EXPECT_EQ(worker_->budgets(), 1u);  // The honest upstream's.
  EXPECT_EQ(HonestCall(), "0 ");
}

// Each table that is part of the ladder, and what fills it.
struct Attack {
  const char* table;
  void (*call)(int number, std::string& authority, std::string& path);
};
constexpr Attack kAttacks[] = {
    {"Destinations", [](int, std::string&, std::string&) {}},
    {"Routes",
     [](int number, std::string& authority, std::string& path) {
       authority = "honest";
       path = absl::StrCat("/honest.Service/", std::string(8'000, 'p'), number);
     }},
};

class CallerTablesUnderAttack : public CallerTables, public testing::WithParamInterface<Attack> {};

INSTANTIATE_TEST_SUITE_P(All, CallerTablesUnderAttack, testing::ValuesIn(kAttacks),
                         [](const auto& attack) { return attack.param.table; });

TEST_P(CallerTablesUnderAttack, GiveBackWhatTheyTookAsMemoryRunsOutAndHonestCallsStayGood) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "a sanitizer has another malloc";
  constexpr size_t kTaken = 4 << 20;
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; mallinfo2().uordblks < before + kTaken; ++i) {
    std::string authority = Authority(i, kLongest);
    std::string path = "/a.B/C";
    GetParam().call(i, authority, path);
    Call(authority, path);
  }
  VirtualTime::Advance(absl::Minutes(1));  // A budget is kept for its window.
  Hold(0.79);
  worker_->Turn();
  EXPECT_GT(mallinfo2().uordblks, before + kTaken / 2);
  Hold(0.81);
  worker_->Turn();
  EXPECT_LT(mallinfo2().uordblks, before + kTaken / 10);
  EXPECT_EQ(HonestCall(), "0 ");
}

TEST_F(CallerTables, TheLeastRecentlyUsedDestinationGoesFirstAsMemoryRunsOut) {
  for (int i = 0; i < 100; ++i) Call(Authority(i));
  Call(Authority(0));
  // A tenth of this is to be freed, which is some of the destinations.
  worker_->memory().SetLimit(10 * 50 * DestinationTable::kBytes);
  Hold(0.8001);
  worker_->Turn();
  const std::set<std::string> named = Named();
  EXPECT_GT(named.size(), 10u);
  EXPECT_LT(named.size(), 90u);
  EXPECT_TRUE(named.contains(Authority(0)));
  EXPECT_FALSE(named.contains(Authority(1)));
  EXPECT_TRUE(named.contains(Authority(99)));
  EXPECT_EQ(worker_->hits(Limit::kDestinations), 1u);
}

}  // namespace
}  // namespace levee
