// SPDX-License-Identifier: Apache-2.0
// A Redis client on a loop of the test's own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "store/redis_client.h"

namespace levee {

// No server of a test takes so long to answer, on whatever machine.
inline constexpr absl::Duration kLong = absl::Minutes(10);

class ClientRun final : private net::TurnHandler, private RedisObserver {
 public:
  explicit ClientRun(RedisTarget target) {
    loop_.SetTurnHandler(this);
    client.emplace(RedisConnection::Parts{loop_, wheel_, resolver_, random_}, std::move(target),
                   static_cast<RedisObserver*>(this));
  }

  // Runs the loop until `done`.
  void Until(std::function<bool()> done) {
    done_ = std::move(done);
    stopping_ = false;
    loop_.Run();
  }
  void UntilConnected(bool connected = true) {
    Until([this, connected] { return client->connected() == connected; });
  }

  using Result = absl::StatusOr<RedisReply>;

  void Send(const std::vector<std::string>& command, RedisClient::Done done) {
    client->Send(command.size() > 1 ? command[1] : "", Views(command), std::move(done));
  }

  // Sends a command, whose key is its second word, and waits for its result.
  Result Ask(const std::vector<std::string>& command) {
    std::optional<Result> result;
    Send(command, [&](const Result& reply) { result = reply; });
    Until([&] { return result.has_value(); });
    return *result;
  }
  Result Run(const RedisScript& script, const std::string& key,
             const std::vector<std::string>& args) {
    std::optional<Result> result;
    client->Run(script, key, Views(args), [&](const Result& reply) { result = reply; });
    Until([&] { return result.has_value(); });
    return *result;
  }

  std::string reason;  // why the client is not connected
  std::vector<RedisObserver::Result> observed;
  std::vector<tls::Result> handshakes;

 private:
  static std::vector<std::string_view> Views(const std::vector<std::string>& words) {
    return {words.begin(), words.end()};
  }
  Instant OnTurnEnd(Instant now) override {
    wheel_.Advance(now);
    if (client.has_value()) client->Flush();
    if (done_() && !std::exchange(stopping_, true)) loop_.Stop();
    return wheel_.NextWakeup();
  }
  void OnCommand(RedisObserver::Result result, absl::Duration) override {
    observed.push_back(result);
  }
  void OnHandshake(tls::Result result, tls::Version, absl::Duration) override {
    handshakes.push_back(result);
  }
  void OnConnected(bool, const std::string& why) override { reason = why; }

  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  net::Resolver resolver_{loop_, wheel_};
  Random random_{1};
  std::function<bool()> done_;
  bool stopping_ = false;

 public:
  std::optional<RedisClient> client;
};

}  // namespace levee
