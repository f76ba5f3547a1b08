// SPDX-License-Identifier: Apache-2.0
// Shared limits under load, in real time, with a real Redis: what is admitted, what Redis is asked,
// and what many keys cost. The figures depend on the machine. What decides is the same on virtual
// time, in tests/policy/lease_fleet_test.cc, and the servers that decide, in shared_stores_test.cc.
// LEVEE_LEASE_KEYS=1000000 makes R4's test one of a million keys.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "config/temporary_folder.h"
#include "gtest/gtest.h"
#include "sidecar/one_sidecar.h"
#include "store/key_slot.h"
#include "store/redis_cluster.h"
#include "store/redis_process.h"
#include "store/sentinel_group.h"

namespace levee {
namespace {

// AddressSanitizer keeps what was freed for a while.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMayGrowKiB = 64 * 1024;
#else
constexpr int64_t kMayGrowKiB = 4 * 1024;
#endif

constexpr double kRate = 1000;
constexpr int kBurst = 200;  // so that a lease lasts 200 ms
constexpr absl::Duration kLease = absl::Milliseconds(200);
constexpr absl::Duration kStoreTimeout = absl::Milliseconds(200);

// `timeout`: one that a busy machine does not reach, unless Redis is to go away.
StoreSpec StoreAt(std::vector<ServerAddress> servers, const std::string& master = "",
                  absl::Duration timeout = absl::Seconds(5)) {
  return {.name = "shared",
          .servers = std::move(servers),
          .master = master,
          .prefix = "levee:",
          .timeout = timeout};
}

RateLimitPolicy Policy() {
  RateLimitPolicy policy{.name = "all", .per_second = kRate, .burst = kBurst};
  policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = StoreAway::kLast};
  return policy;
}

// Calls so often from a thread of its own, and knows when which calls were admitted.
class CallingThread {
 public:
  CallingThread(OneSidecar& sidecar, double per_second)
      : sidecar_(sidecar), gap_(1 / per_second), thread_([this] { Run(); }) {}
  ~CallingThread() { End(); }

  // Returns when so many more calls have been made.
  void Await(int calls) {
    std::unique_lock lock(mutex_);
    called_.wait(lock, [&, until = this->calls() + calls] { return this->calls() >= until; });
  }

  void End() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    called_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  struct Ended {
    Instant at;
    bool admitted;
  };

  int AdmittedBetween(Instant from, Instant to) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::ranges::count_if(
        ended_, [&](const Ended& e) { return e.admitted && from <= e.at && e.at < to; }));
  }

  // After End.
  const std::vector<Ended>& ended() const { return ended_; }
  int calls() const { return static_cast<int>(ended_.size()); }

 private:
  void Run() {
    using Clock = std::chrono::steady_clock;
    auto next = Clock::now();
    std::unique_lock lock(mutex_);
    while (!called_.wait_until(lock, next, [this] { return ends_; })) {
      // A busy machine makes fewer calls, and not many at once.
      next = std::max(next + std::chrono::duration_cast<std::chrono::nanoseconds>(gap_),
                      Clock::now() - std::chrono::milliseconds(10));
      lock.unlock();
      const bool admitted = sidecar_.Call();
      lock.lock();
      ended_.push_back({net::ReadClock(), admitted});
      called_.notify_all();
    }
  }

  OneSidecar& sidecar_;
  const std::chrono::duration<double> gap_;
  std::mutex mutex_;
  std::condition_variable called_;
  std::vector<Ended> ended_;
  bool ends_ = false;
  std::thread thread_;
};

class LeaseLoadSoak : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  // Calls at twice the limit through `trouble`, after which another server decides, and demands
  // what R3 does.
  static void ThroughFailover(const StoreSpec& store, const std::function<void()>& trouble);

  const TemporaryFolder folder_;
};

void AwaitLeased(const OneSidecar& sidecar) {
  while (sidecar.limit()->LeaseState(net::ReadClock()) != PermitLease::State::kLeased) {
    std::this_thread::yield();
  }
}

void LeaseLoadSoak::ThroughFailover(const StoreSpec& store, const std::function<void()>& trouble) {
  OneSidecar sidecar(store, Policy());
  sidecar.Await(PermitLease::State::kLeased);
  CallingThread calls(sidecar, 2 * kRate);
  calls.Await(4000);
  const Instant begin = net::ReadClock();
  trouble();
  AwaitLeased(sidecar);
  const Instant back = net::ReadClock() + 2 * kLease;
  calls.Await(4800);
  const Instant end = net::ReadClock();
  const double during =
      calls.AdmittedBetween(begin, back) / absl::ToDoubleSeconds(back - begin) / kRate;
  const double after = calls.AdmittedBetween(back, end) / absl::ToDoubleSeconds(end - back) / kRate;
  std::printf("%.1f s without a primary: %.2f of the rate, and then %.2f\n",
              absl::ToDoubleSeconds(back - begin), during, after);
  EXPECT_GE(during, 0.7);
  // The new primary's bucket may be full.
  EXPECT_LE(during, 1.1 + kBurst / kRate / absl::ToDoubleSeconds(back - begin));
  EXPECT_GE(after, 0.95);
  EXPECT_LE(calls.AdmittedBetween(back, end),
            kBurst + kRate * absl::ToDoubleSeconds(end - back + kLease));
}

TEST_F(LeaseLoadSoak, R3_WhileSentinelsReplaceThePrimaryTheRateHolds) {
  SentinelGroup group(folder_.Path("group"));
  ThroughFailover(StoreAt(group.sentinels(), SentinelGroup::kMaster, kStoreTimeout),
                  [&] { group.KillPrimary(); });
}

TEST_F(LeaseLoadSoak, R3_WhileAClustersReplicaStandsInTheRateHolds) {
  const RedisCluster cluster(folder_.Path("nodes"), {.replicas = 3});
  const size_t owner = cluster.OwnerOf(SlotOf("levee:rate:p/all:"));
  ThroughFailover(
      StoreAt({cluster.address(0), cluster.address(1), cluster.address(2)}, "", kStoreTimeout),
      [&] {
        cluster.Kill(owner);
        while (cluster.node(3 + owner).Command({"ROLE"}).find("master") == std::string::npos) {
        }
      });
}

// How many scripts Redis has run, and how often it was told one.
int Scripts(const RedisProcess& redis) {
  const std::string stats = redis.Command({"INFO", "commandstats"});
  int sum = 0;
  for (const char* name : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="}) {
    const size_t at = stats.find(name);
    if (at != std::string::npos) sum += std::atoi(stats.c_str() + at + std::string(name).size());
  }
  return sum;
}

TEST_F(LeaseLoadSoak, R2_BelowTheLimitAFifthOfARequestIsMadeForACall) {
  const RedisProcess redis;
  OneSidecar sidecar(StoreAt({{"127.0.0.1", redis.port()}}), Policy());
  sidecar.Await(PermitLease::State::kLeased);
  const int before = Scripts(redis);
  CallingThread calls(sidecar, kRate / 2);
  calls.Await(1500);
  calls.End();
  const int asked = Scripts(redis) - before;
  std::printf("%d requests for %d calls\n", asked, calls.calls());
  EXPECT_LE(asked, 0.2 * calls.calls());
}

TEST_F(LeaseLoadSoak, R2_BelowTheLimitNoCallWaitsForRedis) {
  const RedisProcess redis;
  OneSidecar sidecar(StoreAt({{"127.0.0.1", redis.port()}}), Policy());
  sidecar.Await(PermitLease::State::kLeased);
  CallingThread calls(sidecar, kRate / 2);
  calls.Await(500);  // By then it knows its own rate.
  const int before = sidecar.waits();
  calls.Await(1500);
  calls.End();
  const int waits = sidecar.waits() - before;
  std::printf("%d of 1500 calls waited\n", waits);
  // A busy machine can keep the answer from the sidecar until the last lease is over.
  EXPECT_LE(waits, 7) << "fewer than would show in the 99th percentile";
}

TEST_F(LeaseLoadSoak, R2_AboveTheLimitFourRequestsAreMadeInALease) {
  const RedisProcess redis;
  OneSidecar sidecar(StoreAt({{"127.0.0.1", redis.port()}}), Policy());
  sidecar.Await(PermitLease::State::kLeased);
  const Instant begin = net::ReadClock();
  const int before = Scripts(redis);
  CallingThread calls(sidecar, 5 * kRate);
  calls.Await(15'000);
  calls.End();
  const int asked = Scripts(redis) - before;
  const double leases = (net::ReadClock() - begin) / kLease;
  std::printf("%d requests in %.1f leases\n", asked, leases);
  EXPECT_LE(asked, 4 * leases + 2);  // The sidecar counts itself every 5 s.
}

// Zipf's law over ten sidecars, of which the first alone has a third of all calls.
TEST_F(LeaseLoadSoak, R1_TenSidecarsHaveTheRateTogether) {
  const RedisProcess redis;
  for (const double demand : {0.5, 2.0, 10.0}) {
    redis.Command({"FLUSHALL"});
    std::vector<std::unique_ptr<OneSidecar>> sidecars;
    std::vector<std::unique_ptr<CallingThread>> threads;
    double sum = 0;
    for (int rank = 1; rank <= 10; ++rank) sum += 1.0 / rank;
    for (int rank = 1; rank <= 10; ++rank) {
      sidecars.push_back(
          std::make_unique<OneSidecar>(StoreAt({{"127.0.0.1", redis.port()}}), Policy()));
      threads.push_back(
          std::make_unique<CallingThread>(*sidecars.back(), kRate * demand / (rank * sum)));
    }
    // In the first second they connect, and those that did first have the burst.
    const Instant begin = net::ReadClock() + absl::Seconds(1);
    threads[0]->Await(static_cast<int>(5 * kRate * demand / sum));
    const Instant end = net::ReadClock();
    for (auto& thread : threads) thread->End();
    std::vector<Instant> admitted;
    double made = 0;
    for (auto& thread : threads) {
      for (const auto& [at, good] : thread->ended()) {
        if (at < begin || at > end) continue;
        ++made;
        if (good) admitted.push_back(at);
      }
    }
    std::ranges::sort(admitted);
    size_t most = 0;
    for (size_t first = 0, last = 0; last < admitted.size(); ++last) {
      while (admitted[last] - admitted[first] >= absl::Seconds(1)) ++first;
      most = std::max(most, last - first + 1);
    }
    const double span = absl::ToDoubleSeconds(end - begin);
    const auto all = static_cast<double>(admitted.size());
    std::printf("demand %.1f: %.0f of %.0f calls in %.1f s, at most %zu in 1 s\n", demand, all,
                made, span, most);
    EXPECT_LE(static_cast<double>(most), kRate + kBurst + kRate * 0.5);
    EXPECT_GE(all, 0.95 * std::min(made, kRate * span));
    if (demand < 1) {
      EXPECT_EQ(all, made) << "a call was refused below the limit";
    }
  }
}

int64_t ResidentKiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

TEST_F(LeaseLoadSoak, R4_ManyKeysHaveMaxKeysBucketsAndTheirKeysInRedisGo) {
  const char* const wanted = std::getenv("LEVEE_LEASE_KEYS");
  int keys = 20'000;
  if (wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &keys));
  }
  const RedisProcess redis;
  RateLimitPolicy policy = Policy();
  policy.key = {RateLimitKey::Header("x-tenant")};
  policy.max_keys = 1000;
  OneSidecar sidecar(StoreAt({{"127.0.0.1", redis.port()}}), policy);
  const auto call = [&](int i) {
    LimitKey key;
    key.Add("header:x-tenant", "tenant-" + std::to_string(i));
    return sidecar.Call(key);
  };
  for (int i = 0; i < 2000; ++i) call(i);
  const int64_t before = ResidentKiB();
  int64_t most = before, most_in_redis = 0;
  for (int i = 0; i < keys; ++i) {
    call(i);
    if (i % 10'000 != 0) continue;
    most = std::max(most, ResidentKiB());
    most_in_redis = std::max<int64_t>(most_in_redis, std::atoll(redis.Command({"DBSIZE"}).c_str()));
  }
  std::printf("%d keys: %lld KiB more than with 2000, at most %lld keys in Redis\n", keys,
              static_cast<long long>(most - before), static_cast<long long>(most_in_redis));
  EXPECT_LE(most - before, kMayGrowKiB);
  EXPECT_LE(most_in_redis, keys);
  // What is left is who shares the limit.
  while (redis.Command({"DBSIZE"}) != "1\n") {
  }
}

}  // namespace
}  // namespace levee
