// SPDX-License-Identifier: Apache-2.0
// A shared limit while real sentinels replace the primary, and while a cluster changes, under load.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "config/temporary_folder.h"
#include "gtest/gtest.h"
#include "sidecar/one_sidecar.h"
#include "store/redis_cluster.h"
#include "store/redis_process.h"
#include "store/sentinel_group.h"

namespace levee {
namespace {

constexpr double kRate = 1000;
constexpr int kBurst = 200;  // so that a lease lasts 200 ms
constexpr absl::Duration kLease = absl::Milliseconds(200);

class Failover : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  static StoreSpec Store(std::vector<ServerAddress> servers, const std::string& master = "") {
    return {.name = "shared",
            .servers = std::move(servers),
            .master = master,
            .prefix = "levee:",
            .timeout = absl::Milliseconds(200)};
  }

  static RateLimitPolicy Policy(StoreAway away) {
    RateLimitPolicy policy{.name = "all", .per_second = kRate, .burst = kBurst};
    policy.shared = SharedRate{.name = "p/all", .store = "shared", .away = away};
    return policy;
  }

  const TemporaryFolder folder_;
};

// Calls at about twice the limit from a thread of its own, and knows when how many were admitted.
class CallingThread {
 public:
  explicit CallingThread(OneSidecar& sidecar)
      : sidecar_(sidecar), thread_([this] {
          for (Instant next = net::ReadClock(); !ends_; next = next + absl::Microseconds(500)) {
            while (net::ReadClock() < next) std::this_thread::yield();
            if (!sidecar_.Call()) continue;
            const std::lock_guard lock(mutex_);
            admitted_.push_back(net::ReadClock());
          }
        }) {}
  ~CallingThread() {
    ends_ = true;
    thread_.join();
  }

  int AdmittedBetween(Instant from, Instant to) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(
        std::ranges::count_if(admitted_, [&](Instant at) { return from <= at && at < to; }));
  }

  // Waits until the leases are the store's, or are not.
  void Await(bool leased) const {
    while ((sidecar_.limit()->LeaseState(net::ReadClock()) == PermitLease::State::kLeased) !=
           leased) {
      std::this_thread::yield();
    }
  }

 private:
  OneSidecar& sidecar_;
  std::mutex mutex_;
  std::vector<Instant> admitted_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

void Pass(absl::Duration time) {
  const Instant until = net::ReadClock() + time;
  while (net::ReadClock() < until) std::this_thread::yield();
}

TEST_F(Failover, R3_WhileSentinelsReplaceThePrimaryTheRateHolds) {
  SentinelGroup group(folder_.Path("group"));
  OneSidecar sidecar(Store(group.sentinels(), SentinelGroup::kMaster), Policy(StoreAway::kLast));
  sidecar.Await(PermitLease::State::kLeased);
  CallingThread calls(sidecar);
  Pass(absl::Seconds(2));
  const Instant killed = net::ReadClock();
  group.KillPrimary();
  calls.Await(true);
  const Instant back = net::ReadClock();
  Pass(2 * kLease);
  const Instant exact = net::ReadClock();
  Pass(absl::Seconds(2));
  const Instant end = net::ReadClock();
  const auto rate = [&](Instant from, Instant to) {
    return calls.AdmittedBetween(from, to) / absl::ToDoubleSeconds(to - from);
  };
  // From the kill on until two leases after the new primary's first.
  EXPECT_GE(rate(killed, exact), 0.7 * kRate);
  EXPECT_LE(rate(killed, exact), 1.1 * kRate + kBurst / absl::ToDoubleSeconds(exact - killed));
  EXPECT_GE(rate(exact, end), 0.95 * kRate);
  EXPECT_LE(calls.AdmittedBetween(exact, end),
            kBurst + kRate * absl::ToDoubleSeconds(end - exact + kLease));
  std::printf("failover %.1f s: %.0f/s, then %.0f/s\n", absl::ToDoubleSeconds(back - killed),
              rate(killed, exact), rate(exact, end));
}

}  // namespace
}  // namespace levee
