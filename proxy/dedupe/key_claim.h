// SPDX-License-Identifier: Apache-2.0
// What a store knows of one idempotency key, and what that means for a call with the key. All
// stores go by this rule: that of one sidecar, the one in Redis, and its model in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/instant.h"
#include "dedupe/request_digest.h"
#include "dedupe/stored_answer.h"
#include "policy/dedupe_policy.h"

namespace levee {

struct KeyClaim {
  std::string token;             // of the claim, so that only its owner changes it; empty in memory
  std::optional<Sha256> digest;  // of the first call, once its request is complete
  StoredAnswerPtr answer;        // not null: the call has ended
  Instant until;                 // without answer: from then on the call is lost
  Instant expires;               // from then on the key is free
};

enum class KeyView : uint8_t {
  kFree,
  kNeedsRequest,  // somebody else has or had the key: the digest of the request is needed
  kMismatch,      // the first call was another request
  kEnded,         // it has ended
  kRuns,          // it runs, or may run
  kLost,          // nobody knows whether it ran
};

// Returns what a call with `digest` sees. `claim`: nullptr if nothing is known of the key.
KeyView LookAtKey(const KeyClaim* claim, const std::optional<Sha256>& digest, Instant now);

// Whether a call that sees this gets the key.
bool MayTakeKey(KeyView view, DedupePolicy::Lost on_lost);

}  // namespace levee
