// SPDX-License-Identifier: Apache-2.0
// The script in a real redis-server, and the model of it that the simulations use.
#include "store/lease_script.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "policy/lease_script_model.h"
#include "store/client_run.h"
#include "store/redis_process.h"
#include "store/sidecar_count.h"

namespace levee {
namespace {

// Asks both for the same. The limit is so slow that the time between the requests does not matter.
class LeaseScriptTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
    redis_.emplace();
    run_.emplace(RedisTarget{
        .servers = {{"127.0.0.1", redis_->port()}}, .timeout = kLong, .patience = kLong});
    run_->UntilConnected();
  }

  LeaseGrant Script(const LeaseRule& rule, const LeaseRequest& request) {
    const auto reply = run_->Run(LeaseScript(), "k", LeaseArguments(rule, request));
    const auto grant = ReadLeaseReply(*reply, request.want);
    EXPECT_TRUE(grant.ok()) << grant.status();
    return grant.value_or(LeaseGrant{});
  }

  void Both(const LeaseRequest& request, int64_t granted) {
    const LeaseGrant script = Script(kSlow, request);
    const LeaseGrant model = model_.Run(kSlow, request, Instant() + absl::Hours(1000));
    EXPECT_EQ(script.granted, granted);
    EXPECT_EQ(model.granted, granted);
    EXPECT_LE(script.wait, model.wait);
    // Redis' time has gone on since the first request. Its clock may be set meanwhile, a little.
    const absl::Duration passed = net::ReadClock() - begun_;
    EXPECT_GE(script.wait, model.wait - passed - absl::Milliseconds(100));
  }

  // One permit in 1000 s.
  static constexpr LeaseRule kSlow{.per_second = 0.001, .burst = 10};

  const Instant begun_ = net::ReadClock();
  std::optional<RedisProcess> redis_;
  std::optional<ClientRun> run_;
  LeaseScriptModel model_;
};

TEST_F(LeaseScriptTest, GrantsWhatThereIsRoomFor) {
  Both({.want = 4}, 4);
  Both({.want = 4}, 4);
  Both({.want = 4}, 2);
  Both({.want = 1}, 0);
}

TEST_F(LeaseScriptTest, APermitThatIsGivenBackIsGrantedAgain) {
  Both({.want = 10}, 10);
  Both({.want = 5, .refund = 3}, 3);
}

TEST_F(LeaseScriptTest, NoRefundMakesMoreThanTheBurst) {
  Both({.want = 1}, 1);
  Both({.want = 20, .refund = 100}, 10);
}

TEST_F(LeaseScriptTest, CountsWhatWasUsedWithoutALease) {
  Both({.want = 4, .refund = -7}, 3);
  Both({.want = 4, .refund = -1000}, 0);
  // No more than the burst is ever owed.
  Both({.want = 4, .refund = 4}, 4);
}

TEST_F(LeaseScriptTest, R4_AKeyGoesWhenItsBucketIsFull) {
  const LeaseRule rule{.per_second = 1000, .burst = 100};
  EXPECT_EQ(Script(rule, {.want = 100}).granted, 100);
  EXPECT_EQ(redis_->Command({"DBSIZE"}), "1\n");
  while (redis_->Command({"DBSIZE"}) != "0\n") {
  }
}

TEST_F(LeaseScriptTest, AKeyLivesAsLongAsItSaysSomething) {
  Script(kSlow, {.want = 5});
  const int ttl = std::stoi(redis_->Command({"TTL", "k"}));
  EXPECT_NEAR(ttl, 5000, 100);
}

TEST_F(LeaseScriptTest, AKeyOfRedisNamesPrefixLimitAndKey) {
  EXPECT_EQ(LeaseKey("levee:", "p/l", "", false), "levee:rate:p/l:");
  EXPECT_EQ(LeaseKey("levee:", "p/l", "tenant", false), "levee:rate:p/l:tenant");
  EXPECT_EQ(LeaseKey("levee:", "p/l", "tenant", true), "levee:rate:p/l/others");
  // SHA-256 of what is too long for a name.
  EXPECT_EQ(LeaseKey("", "l", std::string(1000, 'a'), false),
            "rate:l#41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST_F(LeaseScriptTest, CountsTheSidecarsThatShowThemselves) {
  const auto count = [&](const std::string& name, const std::string& within) {
    return run_->Run(SidecarCountScript(), "s", {name, within})->integer;
  };
  EXPECT_EQ(count("a", "60000"), 1);
  EXPECT_EQ(count("b", "60000"), 2);
  EXPECT_EQ(count("a", "60000"), 2);
  while (count("b", "50") == 2) {
  }
  while (redis_->Command({"DBSIZE"}) != "0\n") {
  }
}

TEST_F(LeaseScriptTest, AnErrorOfRedisIsNoGrant) {
  redis_->Command({"LPUSH", "k", "x"});
  EXPECT_FALSE(
      ReadLeaseReply(*run_->Run(LeaseScript(), "k", LeaseArguments(kSlow, {.want = 1})), 1).ok());
  EXPECT_FALSE(ReadLeaseReply({.kind = RedisReply::Kind::kStatus, .text = "OK"}, 1).ok());
}

TEST(LeaseReply, GrantsNoMoreThanWasAskedFor) {
  const auto reply = [](int64_t granted) {
    const RedisReply number = {.kind = RedisReply::Kind::kInteger, .integer = granted};
    return RedisReply{.kind = RedisReply::Kind::kList,
                      .list = {number, {.kind = RedisReply::Kind::kInteger, .integer = 0}}};
  };
  EXPECT_EQ(ReadLeaseReply(reply(7), 7)->granted, 7);
  EXPECT_FALSE(ReadLeaseReply(reply(8), 7).ok());
  EXPECT_FALSE(ReadLeaseReply(reply(-1), 7).ok());
}

}  // namespace
}  // namespace levee
