// SPDX-License-Identifier: Apache-2.0
// The pipeline to a real redis-server: its answers, and what happens when it is away.
#include "store/redis_client.h"

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "net/closed_port.h"
#include "store/client_run.h"
#include "store/redis_process.h"

namespace levee {
namespace {

using Result = RedisObserver::Result;

class RedisClientTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  static RedisTarget Target(const RedisProcess& redis) {
    return {.servers = {{"127.0.0.1", redis.port()}}, .timeout = kLong, .patience = kLong};
  }

  // For a server that will not answer in time.
  static RedisTarget Target(const RedisProcess& redis, absl::Duration timeout) {
    return {.servers = {{"127.0.0.1", redis.port()}}, .timeout = timeout};
  }
};

TEST_F(RedisClientTest, AnswersCommandsInTheirOrder) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  std::vector<int64_t> answers;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<std::string> command = {"INCR", "n"};
    run.Send(command, [&](const auto& reply) { answers.push_back(reply->integer); });
  }
  run.Until([&] { return answers.size() == 1000; });
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(answers[static_cast<size_t>(i)], i + 1);
  EXPECT_EQ(run.observed, std::vector<Result>(1000, Result::kOk));
}

TEST_F(RedisClientTest, KeepsAnyBytes) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  const std::string value("\0\r\n\xff", 4);
  EXPECT_EQ(run.Ask({"SET", "k", value, "NX", "PX", "60000"})->text, "OK");
  EXPECT_EQ(run.Ask({"GET", "k"})->text, value);
  EXPECT_EQ(run.Ask({"SET", "k", value, "NX"})->kind, RedisReply::Kind::kNil);
}

TEST_F(RedisClientTest, AnErrorIsAReply) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  EXPECT_TRUE(run.Ask({"NOSUCH"})->IsError("ERR"));
  EXPECT_EQ(run.observed, std::vector<Result>{Result::kError});
}

TEST_F(RedisClientTest, TellsAScriptToAServerThatHasForgottenIt) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  const RedisScript script("return {KEYS[1], ARGV[1]}");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.Run(script, "k", {"a"})->list[1].text, "a");
    EXPECT_EQ(run.Run(script, "k", {"b"})->list[1].text, "b");
    redis.Command({"SCRIPT", "FLUSH"});
  }
}

TEST_F(RedisClientTest, ShowsItsPassword) {
  RedisProcess redis({"--requirepass", "secret"});
  RedisTarget target = Target(redis);
  target.login.password = "secret";
  ClientRun run(target);
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
}

TEST_F(RedisClientTest, ShowsItsUserNameToo) {
  RedisProcess redis;
  redis.Command({"ACL", "SETUSER", "levee", "on", ">secret", "~*", "+@all"});
  redis.Command({"ACL", "SETUSER", "default", "off"});
  RedisTarget target = Target(redis);
  target.login.username = "levee";
  target.login.password = "secret";
  ClientRun run(target);
  run.UntilConnected();
  EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
}

TEST_F(RedisClientTest, SaysWhyAServerDoesNotTakeIt) {
  RedisProcess redis({"--requirepass", "secret"});
  ClientRun run(Target(redis));
  std::string text;
  run.Until([&] {
    const std::vector<std::string> command = {"PING"};
    run.Send(command, [&](const auto& reply) { text = std::string(reply.status().message()); });
    return text.starts_with("NOAUTH");
  });
  EXPECT_FALSE(run.client->connected());
}

TEST_F(RedisClientTest, WithoutAServerACommandFailsAtOnce) {
  const ClosedPort closed;
  ClientRun run({.servers = {{"127.0.0.1", closed.port()}}});
  bool told = false;
  const std::vector<std::string> command = {"PING"};
  run.Send(command, [&](const auto& reply) { told = absl::IsFailedPrecondition(reply.status()); });
  EXPECT_TRUE(told);
  EXPECT_EQ(run.observed, std::vector<Result>{Result::kUnavailable});
}

TEST_F(RedisClientTest, ConnectsAgainToAServerThatWasKilled) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  for (int i = 0; i < 3; ++i) {
    run.UntilConnected();
    EXPECT_EQ(run.Ask({"PING"})->text, "PONG");
    redis.Kill();
    run.UntilConnected(false);
    redis.Restart();
  }
}

TEST_F(RedisClientTest, ACommandUnderWayFailsWithItsConnection) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  redis.Signal(SIGSTOP);
  std::optional<absl::Status> status;
  const std::vector<std::string> command = {"PING"};
  run.Send(command, [&](const auto& reply) { status = reply.status(); });
  redis.Kill();
  run.Until([&] { return status.has_value(); });
  EXPECT_TRUE(absl::IsUnavailable(*status)) << *status;
}

TEST_F(RedisClientTest, ACommandUnderWayFailsWithItsClient) {
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  std::optional<absl::Status> status;
  const std::vector<std::string> command = {"PING"};
  run.Send(command, [&](const auto& reply) { status = reply.status(); });
  run.client.reset();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*status)) << *status;
}

TEST_F(RedisClientTest, AStoppedServerIsATimeoutAndThenNotConnected) {
  RedisProcess redis;
  ClientRun run(Target(redis, absl::Milliseconds(200)));
  run.UntilConnected();
  redis.Signal(SIGSTOP);
  EXPECT_TRUE(absl::IsDeadlineExceeded(run.Ask({"PING"}).status()));
  EXPECT_EQ(run.observed.back(), Result::kTimeout);
  run.UntilConnected(false);
  redis.Signal(SIGCONT);
  run.UntilConnected();
}

TEST_F(RedisClientTest, ALateReplyIsNotTakenForThatOfTheNextCommand) {
  RedisProcess redis;
  ClientRun run(Target(redis, absl::Milliseconds(400)));
  run.UntilConnected();
  redis.Command({"SET", "k", "v"});
  redis.Signal(SIGSTOP);
  EXPECT_TRUE(absl::IsDeadlineExceeded(run.Ask({"ECHO", "late"}).status()));
  redis.Signal(SIGCONT);
  run.UntilConnected();
  for (int i = 0; i < 10; ++i) {
    const auto reply = run.Ask({"GET", "k"});
    EXPECT_TRUE(!reply.ok() || reply->text == "v") << reply->text;
  }
  run.UntilConnected();
  redis.Signal(SIGSTOP);
  EXPECT_TRUE(absl::IsDeadlineExceeded(run.Ask({"PING"}).status()));
}

TEST_F(RedisClientTest, LeavesAServerThatHasBecomeAReplica) {
  RedisProcess primary;
  RedisProcess redis;
  ClientRun run(Target(redis));
  run.UntilConnected();
  redis.Command({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  EXPECT_TRUE(run.Ask({"SET", "k", "v"})->IsError("READONLY"));
  run.UntilConnected(false);
}

}  // namespace
}  // namespace levee
