// SPDX-License-Identifier: Apache-2.0
// Sidecars with a limit that the rate limit service of Envoy's project keeps, in a real
// redis-server.
#include "sidecar/limit_services.h"

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "log/event_text.h"
#include "net/event_loop.h"
#include "sidecar/busy_port.h"
#include "sidecar/real_limit_service.h"

namespace levee {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kLimits[] =
    "  - {key: tier, value: few, rate_limit: {unit: year, requests_per_unit: 50}}\n"
    "  - {key: tier, value: many, rate_limit: {unit: second, requests_per_unit: 100000000}}\n"
    "  - {key: tier, value: second, rate_limit: {unit: second, requests_per_unit: 200}}\n";

// One sidecar's part of a limit, without calls around it.
class ServedSidecar {
 public:
  ServedSidecar(uint16_t port, StoreAway away, absl::Duration timeout = absl::Seconds(10))
      : services_({metrics_, log_, board_}, [this] { Notify(&ServedSidecar::answers_); }) {
    RateLimitPolicy policy{.name = "all", .key = {RateLimitKey::Header("tier")}};
    policy.shared =
        SharedRate{.name = "p/all",
                   .service = RateService{.host = "127.0.0.1", .port = port, .domain = "shop"},
                   .timeout = timeout,
                   .away = away};
    limit_ = std::make_shared<RateLimiter>(policy, &services_);
    services_.Configure({limit_});
  }
  ~ServedSidecar() { services_.Stop(); }

  // Whether a call of the tier is admitted; waits for its lease as a call does.
  bool Call(const std::string& tier) {
    LimitKey key;
    key.Add("header:tier", tier);
    for (;;) {
      std::unique_lock lock(mutex_);
      const int seen = answers_;
      lock.unlock();
      const RatePermit permit = limit_->Take(key, net::ReadClock(), absl::ZeroDuration());
      if (permit.granted || !permit.awaits_lease) return permit.granted;
      lock.lock();
      changed_.wait(lock, [&] { return answers_ != seen; });
    }
  }

  // How many of so many calls were admitted.
  int Calls(int calls, const std::string& tier) {
    int admitted = 0;
    for (int i = 0; i < calls; ++i) admitted += Call(tier) ? 1 : 0;
    return admitted;
  }

  std::vector<StoreView> Views() const { return board_.Read(); }

  // Calls until the service decides, or does not any more.
  void Await(PermitLease::State state, const std::string& tier) {
    do {
      Call(tier);
    } while (limit_->LeaseState(net::ReadClock()) != state);
  }

  // Waits for so many events; returns all that there were by then.
  std::vector<std::string> AwaitEvents(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return events_.size() >= count; });
    return events_;
  }

 private:
  void Notify(int ServedSidecar::*count) {
    const std::lock_guard lock(mutex_);
    ++(this->*count);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int answers_ = 0;
  std::vector<std::string> events_;
  Metrics metrics_{Metrics::Options()};
  EventLog log_{LogLevel::kInfo, [this](const LogEvent& event) {
                  const std::lock_guard lock(mutex_);
                  events_.push_back(EventText(event));
                  changed_.notify_all();
                }};
  StoreBoard board_;
  LimitServices services_;
  std::shared_ptr<RateLimiter> limit_;
};

TEST(LimitServicesTest, AServiceThatIsNotThereIsShownWithItsReason) {
  const uint16_t port = BusyPort().port();  // Nobody listens there any more.
  const ServedSidecar sidecar(port, StoreAway::kAllow);
  std::vector<StoreView> views;
  do {
    views = sidecar.Views();
  } while (views.empty() || views[0].failure == "not connected yet");
  ASSERT_EQ(views.size(), 1);
  EXPECT_EQ(views[0].name, absl::StrCat("127.0.0.1:", port));
  EXPECT_EQ(views[0].kind, StoreView::Kind::kService);
  EXPECT_FALSE(views[0].connected);
  EXPECT_THAT(views[0].failure, HasSubstr("connection refused"));
}

class RealLimitServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = RealLimitService::Missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
    service_ = std::make_unique<RealLimitService>(kLimits);
  }

  std::unique_ptr<ServedSidecar> Sidecar(StoreAway away,
                                         absl::Duration timeout = absl::Seconds(10)) const {
    return std::make_unique<ServedSidecar>(service_->port(), away, timeout);
  }

  int UseItUp() const;

  std::unique_ptr<RealLimitService> service_;
};

// Three sidecars call more often than the limit has permits. Returns how many calls were admitted.
int RealLimitServiceTest::UseItUp() const {
  std::vector<std::unique_ptr<ServedSidecar>> sidecars;
  for (int i = 0; i < 3; ++i) sidecars.push_back(Sidecar(StoreAway::kDeny));
  int admitted = 0;
  for (int i = 0; i < 600; ++i) admitted += sidecars[static_cast<size_t>(i % 3)]->Call("few");
  EXPECT_LE(admitted, 50);
  std::printf("%d of 50 permits were used\n", admitted);
  return admitted;
}

TEST_F(RealLimitServiceTest, R5_SidecarsHaveTheLimitTogether) { UseItUp(); }

TEST_F(RealLimitServiceTest, R5_ACallNowAndThenGetsEveryPermit) {
  int admitted = 0;
  // A sidecar that has just started has no calls to lease ahead for.
  for (int i = 0; i < 60; ++i) admitted += Sidecar(StoreAway::kDeny)->Call("few");
  EXPECT_EQ(admitted, 50);
}

TEST_F(RealLimitServiceTest, R5_NothingIsRefusedBelowTheLimit) {
  const auto one = Sidecar(StoreAway::kDeny);
  const auto other = Sidecar(StoreAway::kDeny);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(one->Call("many")) << i;
    ASSERT_TRUE(other->Call("many")) << i;
  }
}

TEST_F(RealLimitServiceTest, R5_WhatTheServiceHasNoLimitForIsAdmitted) {
  EXPECT_EQ(Sidecar(StoreAway::kDeny)->Calls(1000, "unknown"), 1000);
}

// What depends on how fast the machine is; tests/policy/service_fleet_test.cc has the rules.
class RealLimitServiceSoak : public RealLimitServiceTest {};

TEST_F(RealLimitServiceSoak, R5_SidecarsNearlyUseTheLimitUp) {
  EXPECT_GE(UseItUp(), 43);  // A request for several permits may find fewer.
}

TEST_F(RealLimitServiceSoak, R5_EachSecondHasItsLimit) {
  const auto sidecar = Sidecar(StoreAway::kDeny);
  const Instant begin = net::ReadClock();
  int admitted = 0;
  while (net::ReadClock() - begin < absl::Seconds(3)) admitted += sidecar->Call("second") ? 1 : 0;
  std::printf("%d calls were admitted in 3 s at 200 a second\n", admitted);
  // Three seconds have parts of four windows, of which the last may have had the whole of its
  // limit.
  EXPECT_GE(admitted, 2 * 200 * 9 / 10);
  EXPECT_LE(admitted, 5 * 200);
}

TEST_F(RealLimitServiceTest, R5_WithoutTheServiceCallsAreAdmittedOrRefusedUntilItIsBack) {
  const auto allow = Sidecar(StoreAway::kAllow, absl::Milliseconds(200));
  const auto deny = Sidecar(StoreAway::kDeny, absl::Milliseconds(200));
  while (!deny->Call("many")) {
  }
  service_->Kill();
  allow->Await(PermitLease::State::kFallback, "few");
  deny->Await(PermitLease::State::kFallback, "few");
  EXPECT_EQ(allow->Calls(200, "few"), 200);
  EXPECT_EQ(deny->Calls(200, "few"), 0);
  EXPECT_THAT(deny->AwaitEvents(1),
              ElementsAre(StartsWith("store_away: a store is unreachable store=127.0.0.1:")));
  service_->Restart();
  while (!deny->Call("many")) {
  }
  EXPECT_THAT(deny->AwaitEvents(2), ElementsAre(_, StartsWith("store_back: ")));
}

TEST_F(RealLimitServiceTest, R5_AServiceWithoutItsRedisIsAway) {
  const auto deny = Sidecar(StoreAway::kDeny);
  ASSERT_TRUE(deny->Call("many"));
  service_->redis().Kill();
  deny->Await(PermitLease::State::kFallback, "many");
  service_->redis().Restart();
  deny->Await(PermitLease::State::kLeased, "many");
}

}  // namespace
}  // namespace levee
