// SPDX-License-Identifier: Apache-2.0
// A connection that wants a primary, and real servers of both roles.
#include "store/redis_connection.h"

#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/timer_wheel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "store/redis_process.h"

namespace levee {
namespace {

// Connects, and stops at the first event.
class FirstEvent final : private net::TurnHandler, private RedisConnectionHandler {
 public:
  explicit FirstEvent(RedisServer server) {
    loop_.SetTurnHandler(this);
    connection_.emplace(RedisConnection::Parts{loop_, wheel_, resolver_, random_},
                        std::move(server), static_cast<RedisConnectionHandler&>(*this));
    loop_.Run();
  }

  std::string text;  // "ready", or why not

 private:
  Instant OnTurnEnd(Instant now) override {
    wheel_.Advance(now);
    connection_->Flush();
    return wheel_.NextWakeup();
  }
  void OnCommand(Result, absl::Duration) override {}
  void OnHandshake(tls::Result, tls::Version, absl::Duration) override {}
  void OnReady(const ServerAddress&) override { End("ready"); }
  void OnLost(const ServerAddress&, const std::string& reason) override { End(reason); }
  void End(const std::string& what) {
    if (text.empty()) text = what;
    loop_.Stop();
  }

  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  net::Resolver resolver_{loop_, wheel_};
  Random random_{1};
  std::optional<RedisConnection> connection_;
};

TEST(RedisConnection, WhoWantsAPrimaryTakesNoReplica) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const RedisProcess primary;
  const RedisProcess replica({"--replicaof", "127.0.0.1", std::to_string(primary.port())});
  const auto connect = [](const RedisProcess& redis, bool wants_primary) {
    return FirstEvent({.address = {"127.0.0.1", redis.port()}, .primary = wants_primary}).text;
  };
  EXPECT_EQ(connect(primary, true), "ready");
  EXPECT_EQ(connect(replica, true), "it is no primary: its role is slave");
  EXPECT_EQ(connect(replica, false), "ready");
}

}  // namespace
}  // namespace levee
