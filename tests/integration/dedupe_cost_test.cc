// SPDX-License-Identifier: Apache-2.0
// What a call with an idempotency key costs the sidecar in CPU time, the kernel's part included,
// and what it asks of Redis. Times of a busy machine are longer, so the least of some rounds
// counts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

constexpr int kCalls = 1000;
constexpr int kRounds = 5;

// A sidecar, and how many keys it has seen.
class Measured {
 public:
  Measured(const FaultyService& service, const std::string& guard, const std::string& more = "")
      : config_(GuardsText({service.address()}, guard) + more),
        sidecar_(SidecarProcess::Run({"--config", config_.path(), "--workers", "1"})),
        channel_(ConnectedChannel(sidecar_->address("ingress0"))) {}

  // Makes kCalls calls, each with a key of its own. Returns microseconds of CPU time for each.
  double Round() {
    const auto before = sidecar_->process().CpuTime();
    const auto codes = RunLoad({channel_}, {.calls = kCalls, .setup = [this](int, auto& context) {
                                              context.AddMetadata("idempotency-key",
                                                                  absl::StrCat("key-", ++keys_));
                                            }});
    EXPECT_EQ(codes.at(grpc::StatusCode::OK), kCalls);
    const std::chrono::duration<double, std::micro> took = sidecar_->process().CpuTime() - before;
    return took.count() / kCalls;
  }

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

int64_t Commands(const RedisProcess& redis) {
  const std::string stats = redis.Command({"INFO", "stats"});
  const std::string name = "total_commands_processed:";
  return std::atoll(stats.c_str() + stats.find(name) + name.size());
}

TEST(DedupeCost, I4_ACallWithAKeyCostsLittle) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const RedisProcess redis;
  const FaultyService service;
  Measured without(service, "concurrency: {limit: none}");
  Measured memory(service, "concurrency: {limit: none}, dedupe: {}");
  Measured shared(
      service, "concurrency: {limit: none}, dedupe: {store: shared}",
      absl::StrCat("stores: [{name: shared, redis: [\"", redis.address(), "\"], timeout: 5s}]\n"));
  while (redis.Command({"CLIENT", "LIST"}).find("cmd=ping") == std::string::npos) {
  }
  const int64_t before = Commands(redis);
  const auto least = Least({&without, &memory, &shared});
  const double asked = static_cast<double>(Commands(redis) - before) / (kRounds * kCalls);
  std::printf(
      "CPU us for a call: %.1f without a key, %.1f more in memory, %.1f more with Redis\n"
      "commands of Redis for a call: %.2f\n",
      least[0], least[1] - least[0], least[2] - least[0], asked);
  // Asked for at its beginning, kept at its end.
  EXPECT_LE(asked, 2.1);
  EXPECT_GE(asked, 1.9);
  EXPECT_LE(least[1] - least[0], 2);
  EXPECT_LE(least[2] - least[0], 10);
}

}  // namespace
}  // namespace levee
