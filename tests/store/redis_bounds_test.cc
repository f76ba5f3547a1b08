// SPDX-License-Identifier: Apache-2.0
// A server that answers without end, or says that it will.
#include <functional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/tcp.h"
#include "store/client_run.h"
#include "store/redis_protocol.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTooMuchMemory[] = "its reply would take more than 12582912 bytes of memory";

// Takes one connection, greets as Redis does, and has `answer` write what follows the next command.
class FakeRedis {
 public:
  using Answer = std::function<void(TcpConnection& to)>;

  explicit FakeRedis(Answer answer) : answer_(std::move(answer)), thread_([this] { Serve(); }) {}
  ~FakeRedis() {
    listener_.Shutdown();
    thread_.join();
  }

  RedisTarget target() const {
    return {.servers = {{"127.0.0.1", listener_.port()}}, .timeout = absl::Seconds(30)};
  }

 private:
  void Serve() {
    const int accepted = listener_.Accept();
    if (accepted < 0) return;
    TcpConnection connection(accepted);
    if (connection.Read(1024).empty() || !connection.Send("+PONG\r\n")) return;
    if (connection.Read(1024).empty()) return;
    answer_(connection);
    connection.ReadAll();
  }

  TcpListener listener_;
  const Answer answer_;
  std::thread thread_;
};

// Returns why the connection was lost on which a command was answered so.
std::string LostFor(FakeRedis::Answer answer) {
  const FakeRedis redis(std::move(answer));
  ClientRun run(redis.target());
  run.UntilConnected();
  const ClientRun::Result result = run.Ask({"GET", "k"});
  EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
  EXPECT_THAT(run.observed, ElementsAre(RedisObserver::Result::kUnavailable));
  EXPECT_EQ(run.reason, result.status().message());
  return run.reason;
}

FakeRedis::Answer Says(const std::string& bytes) {
  return [bytes](TcpConnection& to) { to.Send(bytes); };
}

FakeRedis::Answer SaysForever(const std::string& first, const std::string& again) {
  return [first, again](TcpConnection& to) {
    for (bool taken = to.Send(first); taken;) taken = to.Send(again);
  };
}

TEST(RedisBounds, ATextThatIsSaidToBeHugeEndsTheConnectionAtOnce) {
  EXPECT_EQ(LostFor(Says("$5242881\r\n")), "its reply has more than 5242880 bytes");
  EXPECT_EQ(LostFor(Says("*2\r\n:1\r\n$9223372036854775807\r\n")),
            "its reply has more than 5242880 bytes");
}

TEST(RedisBounds, AListThatIsSaidToBeHugeEndsTheConnectionAtOnce) {
  EXPECT_EQ(LostFor(Says("*2147483647\r\n")), kTooMuchMemory);
  std::string lists = "*2\r\n*50000\r\n";
  for (int i = 0; i < 50'000; ++i) lists += ":1\r\n";
  EXPECT_EQ(LostFor(Says(lists + "*50000\r\n")), kTooMuchMemory);
}

TEST(RedisBounds, ALineWithoutEndEndsTheConnection) {
  const std::string some(10'000, 'x');
  EXPECT_EQ(LostFor(SaysForever("+", some)), "its reply has a line of more than 65536 bytes");
  EXPECT_EQ(LostFor(SaysForever("$1", some)), "its reply has a line of more than 65536 bytes");
}

TEST(RedisBounds, AReplyOfManyTextsEndsTheConnection) {
  const std::string text = "$1000000\r\n" + std::string(1'000'000, 'x') + "\r\n";
  EXPECT_EQ(LostFor(SaysForever("*1000\r\n", text)), "its reply has more than 5242880 bytes");
}

TEST(RedisBounds, ADeepReplyEndsTheConnection) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "*1\r\n";
  EXPECT_THAT(LostFor(Says(deep)), HasSubstr("nested multi bulk replies"));
}

}  // namespace
}  // namespace levee
