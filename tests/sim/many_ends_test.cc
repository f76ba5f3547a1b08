// SPDX-License-Identifier: Apache-2.0
// Many calls of a worker that end in one turn: their answers take memory before the calls are
// freed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/block_cache.h"
#include "config/load.h"
#include "net/memory_limit.h"
#include "settings/snapshot.h"
#include "virtual/session_peer.h"
#include "virtual/virtual_time.h"
#include "virtual/virtual_worker.h"

namespace levee {
namespace {

constexpr int kCalls = 1000;

// Makes all of them on one connection, and reads no answer.
class ManyCalls final : public SessionPeer, private h2::StreamHandler {
 public:
  explicit ManyCalls(int fd) : SessionPeer(h2::Session::Role::kClient, fd) {}

  void Start() {
    for (int i = 0; i < kCalls; ++i) {
      h2::Stream& stream = session().Open(*this);
      Metadata& head = stream.head();
      for (const auto& [name, value] : {std::pair(":method", "POST"),
                                        {":scheme", "http"},
                                        {":path", "/shop.Service/Unary"},
                                        {":authority", "shop"},
                                        {"te", "trailers"},
                                        {"content-type", "application/grpc"},
                                        {"grpc-timeout", "3S"}}) {
        head.Add(name, value);
      }
      stream.SendHead(/*end=*/true);
    }
  }

 private:
  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk&) override {}
  void OnEnd(Metadata*) override {}
  void OnSent(size_t) override {}
  void OnClosed(const StreamEnd&) override {}
};

// The calls are where they wait for an upstream that has accepted a connection and said nothing.
class ManyEnds : public testing::Test {
 protected:
  ManyEnds() {
    VirtualTime::Restart();
    auto snapshot = std::make_shared<Snapshot>(**ParseConfig("defaults", "{}"));
    snapshot->upstreams = {UpstreamSpec()};
    snapshot->upstreams.front().name = "cart";
    CallPolicy policy;
    policy.retry.max_attempts = 1;
    snapshot->policies = {policy};
    snapshot->routes = RouteTable({Route()});
    auto endpoints = std::make_shared<EndpointList>();
    endpoints->push_back({.kind = EndpointSpec::Kind::kUnix, .host = "", .path = end_.path()});
    worker_ = std::make_unique<VirtualWorker>(snapshot, "cart", std::move(endpoints));
    caller_ = std::make_unique<ManyCalls>(worker_->Connect());
    PassBytes();  // The worker's SETTINGS say how many calls it takes.
    caller_->Start();
    held_ = PassBytes();
    upstream_ = end_.Accept();
    EXPECT_GE(upstream_, 0);
  }

  // Returns what the worker holds more behind that.
  int64_t PassBytes() {
    int64_t held = 0;
    for (int i = 0; i < 20; ++i) {
      caller_->Pump();
      ReleaseFreeBlocks();
      const int64_t before = AllocatedBlockBytes();
      worker_->Turn();
      ReleaseFreeBlocks();
      held += AllocatedBlockBytes() - before;
    }
    return held;
  }

  // Blocks that came from malloc so far.
  static int64_t Made() { return AllocatedBlockBytes() + FreedBlockBytes(); }

  // What one turn makes.
  int64_t MadeInTurn() {
    ReleaseFreeBlocks();
    const int64_t before = Made();
    worker_->Turn();
    return Made() - before;
  }

  const VirtualEndpoint end_;
  std::unique_ptr<VirtualWorker> worker_;
  std::unique_ptr<ManyCalls> caller_;
  int64_t held_ = 0;
  int upstream_ = -1;
};

TEST_F(ManyEnds, CallsWhoseDeadlineIsTheSameMakeLessThanHalfOfWhatTheyHold) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "with a sanitizer no block is used again";
  VirtualTime::Advance(absl::Seconds(4));
  const int64_t made = MadeInTurn();
  EXPECT_GT(made, kCalls * 500);
  EXPECT_LT(made, held_ / 2);
  close(upstream_);
}

TEST_F(ManyEnds, CallsWhoseUpstreamRefusesTheConnectionMakeLessThanHalfOfWhatTheyHold) {
  if (net::OwnBytes() == 0) GTEST_SKIP() << "with a sanitizer no block is used again";
  close(upstream_);
  const int64_t made = MadeInTurn();
  EXPECT_GT(made, kCalls * 1000);  // Each answer says why.
  EXPECT_LT(made, held_ / 2);
}

}  // namespace
}  // namespace levee
