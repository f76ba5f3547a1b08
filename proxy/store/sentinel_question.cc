// SPDX-License-Identifier: Apache-2.0
#include "store/sentinel_question.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace levee {

SentinelQuestion::SentinelQuestion(const RedisConnection::Parts& parts, RedisServer sentinel,
                                   std::string master, RedisConnectionHandler& owner, Answer answer)
    : loop_(parts.loop),
      master_(std::move(master)),
      owner_(owner),
      answer_(std::move(answer)),
      connection_(parts, std::move(sentinel), *this) {}

void SentinelQuestion::OnReady(const ServerAddress& server) {
  const std::string_view command[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_};
  connection_.Send(
      FormatRedisCommand(command), [this, server](const absl::StatusOr<RedisReply>& reply) {
        if (reply.ok()) return End(reply);
        End(absl::Status(reply.status().code(),
                         absl::StrCat("sentinel ", server.Text(), ": ", reply.status().message())));
      });
}

void SentinelQuestion::OnLost(const ServerAddress& server, const std::string& reason) {
  End(absl::UnavailableError(absl::StrCat("sentinel ", server.Text(), ": ", reason)));
}

// A connection must not be destroyed within its own event, and who hears the answer may do that.
void SentinelQuestion::End(absl::StatusOr<RedisReply> reply) {
  if (std::exchange(ended_, true)) return;
  loop_.Post([this, reply = std::move(reply), alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    const Answer answer = std::move(answer_);
    answer(reply);
  });
}

}  // namespace levee
