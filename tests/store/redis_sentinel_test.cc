// SPDX-License-Identifier: Apache-2.0
// A client that real sentinels lead to the primary.
#include <csignal>
#include <string>
#include <vector>

#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/closed_port.h"
#include "store/client_run.h"
#include "store/redis_process.h"
#include "store/sentinel_group.h"

namespace levee {
namespace {

class RedisSentinelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  static RedisTarget Target(std::vector<ServerAddress> sentinels) {
    return {.servers = std::move(sentinels),
            .master = SentinelGroup::kMaster,
            .timeout = absl::Seconds(10),
            .patience = kLong};
  }

  // Sets the key, again and again while nobody can be asked.
  static void Set(ClientRun& run, const std::string& value) {
    for (;;) {
      run.UntilConnected();
      const auto reply = run.Ask({"SET", "k", value});
      if (reply.ok() && reply->text == "OK") return;
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(RedisSentinelTest, APrimaryThatIsKilledIsFollowedByItsReplica) {
  SentinelGroup group(folder_.Path("group"));
  RedisTarget target = Target(group.sentinels());
  const ClosedPort nobody;  // A sentinel that is away.
  target.servers.insert(target.servers.begin(), {"127.0.0.1", nobody.port()});
  ClientRun run(target);
  Set(run, "one");
  EXPECT_EQ(group.Command(group.primary(), {"GET", "k"}), "one\n");
  group.KillPrimary();
  run.UntilConnected(false);
  Set(run, "two");
  EXPECT_EQ(group.Command(group.primary(), {"GET", "k"}), "two\n");
}

TEST_F(RedisSentinelTest, WhenPrimaryAndReplicaChangePlacesTheNewOneIsFound) {
  SentinelGroup group(folder_.Path("group"),
                      {.redis = {"--requirepass", "secret", "--masterauth", "secret"},
                       .sentinels = "requirepass theirs\nsentinel sentinel-pass theirs\n"
                                    "sentinel auth-pass main secret\n",
                       .redis_cli = {"-a", "secret", "--no-auth-warning"},
                       .sentinel_cli = {"-a", "theirs", "--no-auth-warning"}});
  RedisTarget target = Target(group.sentinels());
  target.login.password = "secret";
  target.sentinel_login.password = "theirs";
  ClientRun run(target);
  Set(run, "one");
  group.KillSentinel(2);
  group.ChangePlaces();
  // The old one answers on. That it is none any more is known by its replies.
  do {
    static_cast<void>(run.Ask({"SET", "k", "two"}));
  } while (group.Command(group.primary(), {"GET", "k"}) != "two\n");
}

TEST_F(RedisSentinelTest, AServerThatIsNoSentinelAndOneThatKnowsNoSuchNameAreTold) {
  const RedisProcess redis;
  ClientRun run(Target({{"127.0.0.1", redis.port()}}));
  run.Until([&] { return run.reason.starts_with("ERR unknown command"); });
  EXPECT_FALSE(run.client->connected());
  EXPECT_TRUE(absl::IsFailedPrecondition(run.Ask({"SET", "k", "v"}).status()));
}

}  // namespace
}  // namespace levee
