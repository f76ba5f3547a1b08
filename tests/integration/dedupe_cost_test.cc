// SPDX-License-Identifier: Apache-2.0
// What a call with an idempotency key costs the sidecar in CPU time, the kernel's part included,
// and what it asks of Redis. Times of a busy machine are longer, so the least of some rounds
// counts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "integration/sidecar_process.h"
#include "store/redis_process.h"

namespace levee {
namespace {

constexpr int kKeyedCalls = 1000;
constexpr int kRounds = 5;

// A sidecar before a service.
class Measured {
 public:
  Measured(const FaultyService& service, const std::string& guard, const std::string& more = "")
      : config_(GuardsText({service.address()}, guard) + more),
        sidecar_(SidecarProcess::Run({"--config", config_.path(), "--workers", "1"})),
        channel_(ConnectedChannel(sidecar_->address("ingress0"))) {}

  // Makes kKeyedCalls calls, each with a key of its own. Returns microseconds of CPU time for each.
  double Round() {
    const auto before = sidecar_->process().CpuTime();
    const auto codes = RunLoad(
        {channel_}, {.calls = kKeyedCalls, .setup = [this](int, auto& context) {
                       context.AddMetadata("idempotency-key", absl::StrCat("key-", ++keys_));
                     }});
    EXPECT_EQ(codes.at(grpc::StatusCode::OK), kKeyedCalls);
    const std::chrono::duration<double, std::micro> took = sidecar_->process().CpuTime() - before;
    return took.count() / kKeyedCalls;
  }

  void AwaitStore() const { EXPECT_TRUE(sidecar_->WaitForSum("levee_store_connected", {}, 1)); }
  void AwaitAsked(double times) const {
    EXPECT_TRUE(sidecar_->WaitForSumAtLeast("levee_store_requests_total", {}, times));
  }
  double Asked() const { return sidecar_->Sum("levee_store_requests_total", {}); }

 private:
  const TempFile config_;
  const std::unique_ptr<SidecarProcess> sidecar_;
  const ChannelPtr channel_;
  int keys_ = 0;
};

// The least of some rounds of each, which take turns.
std::vector<double> Least(const std::vector<Measured*>& all) {
  std::vector<double> least(all.size(), std::numeric_limits<double>::max());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) least[i] = std::min(least[i], all[i]->Round());
  }
  return least;
}

TEST(DedupeCostSoak, I4_OfACallWithAKeyAndWithRedis) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const RedisProcess redis;
  const FaultyService service;
  Measured without(service, "concurrency: {limit: none}");
  Measured memory(service, "concurrency: {limit: none}, dedupe: {}");
  Measured shared(
      service, "concurrency: {limit: none}, dedupe: {store: shared}",
      absl::StrCat("stores: [{name: shared, redis: [\"", redis.address(), "\"], timeout: 5s}]\n"));
  shared.AwaitStore();
  const auto least = Least({&without, &memory, &shared});
  std::printf("CPU us for a call: %.1f without a key, %.1f more in memory, %.1f more with Redis\n",
              least[0], least[1] - least[0], least[2] - least[0]);
}

// For the key as the call begins, and with the answer as it ends.
TEST(DedupeCost, I4_ACallWithAKeyAsksRedisTwice) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const RedisProcess redis;
  const FaultyService service;
  Measured shared(
      service, "concurrency: {limit: none}, dedupe: {store: shared}",
      absl::StrCat("stores: [{name: shared, redis: [\"", redis.address(), "\"], timeout: 5s}]\n"));
  shared.AwaitStore();
  shared.Round();  // Scripts that Redis does not know yet are sent again, as a whole.
  shared.AwaitAsked(2 * kKeyedCalls);
  const double before = shared.Asked();
  shared.Round();
  shared.AwaitAsked(before + 2 * kKeyedCalls);
  EXPECT_EQ(shared.Asked(), before + 2 * kKeyedCalls);
}

}  // namespace
}  // namespace levee
