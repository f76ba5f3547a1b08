// SPDX-License-Identifier: Apache-2.0
// The idempotency keys that Redis keeps for all sidecars of a service.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "dedupe/key_store.h"
#include "store/redis_client.h"
#include "store/redis_protocol.h"

namespace levee {

// Each key is one string, which expires. Of a claim without answer it lives `claim` and `ttl`, so
// what is left tells how old the claim is, and neither the sidecars' clocks nor Redis' own matter:
// with no more left than `ttl` it is lost. The names of keys are `prefix`, "key:", and a digest.
class RedisKeys {
 public:
  using Done = absl::AnyInvocable<void(const absl::StatusOr<KeyReply>&)>;

  // Sends a command that is not kLook, and that stays until `done` is called. `now`: returns the
  // time at which the reply came. An asked key that is free costs one command, any other one more.
  // Errors are those of RedisClient; an error reply, or one that is no key of Levee's, is Internal.
  static void Send(RedisClient& client, std::string_view prefix, const KeyCommand& command,
                   absl::AnyInvocable<Instant()> now, Done done);
};

// Reads the reply to a question for a key that was not free at first. `now`: when it came.
absl::StatusOr<KeyReply> ReadAskReply(const RedisReply& reply, Instant now);

}  // namespace levee
