// SPDX-License-Identifier: Apache-2.0
// One question to one sentinel, on a connection of its own.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "store/redis_connection.h"

namespace levee {

class SentinelQuestion final : private RedisConnectionHandler {
 public:
  using Answer = std::function<void(const absl::StatusOr<RedisReply>&)>;

  // Asks the sentinel for the primary that it knows as `master`. `answer` is called once, in a
  // later turn, with the reply, or with what was wrong and the sentinel's address; not after
  // destruction, which it may do. `owner` outlives it and hears of its handshake.
  SentinelQuestion(const RedisConnection::Parts& parts, RedisServer sentinel, std::string master,
                   RedisConnectionHandler& owner, Answer answer);

  // As that of RedisConnection.
  void Flush() { connection_.Flush(); }

 private:
  void OnCommand(Result, absl::Duration) override {}
  void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) override {
    owner_.OnHandshake(result, version, took);
  }
  void OnReady(const ServerAddress& server) override;
  void OnLost(const ServerAddress& server, const std::string& reason) override;
  void End(absl::StatusOr<RedisReply> reply);

  net::EventLoop& loop_;
  const std::string master_;
  RedisConnectionHandler& owner_;
  Answer answer_;
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  RedisConnection connection_;  // It ends first, and tells of what it has not answered.
};

}  // namespace levee
