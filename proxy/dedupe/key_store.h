// SPDX-License-Identifier: Apache-2.0
// What a table of keys asks of a store that it shares with other sidecars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/block_cache.h"
#include "base/instant.h"
#include "base/sha256.h"
#include "dedupe/key_claim.h"

namespace levee {

class DedupeTable;

struct KeyCommand : InBlocks {
  enum class Kind : uint8_t {
    kAsk,      // claims the key if the rule lets a call take it
    kKeep,     // the call has ended: keeps `answer`, if the claim stands or nobody has the key
    kRelease,  // the key is free again, if the claim stands
    kRenew,    // the call runs on: the claim, if it stands, counts from now on
    kLook,     // asks the table again, after `after`, whether the key is wanted
  };
  Kind kind = Kind::kAsk;
  std::weak_ptr<DedupeTable> table;
  std::string store;  // its name
  Sha256 key{};       // of DedupeTable::KeyOf
  std::string token;  // kTokenSize characters
  std::optional<Sha256> digest;
  StoredAnswerPtr answer;
  absl::Duration claim = absl::ZeroDuration();
  absl::Duration ttl = absl::ZeroDuration();
  DedupePolicy::Lost on_lost = DedupePolicy::Lost::kRefuse;
  absl::Duration after = absl::ZeroDuration();
  Instant give_up;  // of kKeep and kRelease: then it is not tried any more

  static constexpr size_t kTokenSize = 16;
};

struct KeyReply {
  bool done = false;              // kAsk: the call has the key
  std::optional<KeyClaim> claim;  // of kAsk that is not done: what the store knows of the key
};

// The interface inverts a dependency: its implementation needs the network, and so lies above
// dedupe/.
class KeyStore {
 public:
  // Carries the command out, and tells the table what it needs to know: OnReply for kAsk, once;
  // Look for kLook. Commands for a key are carried out in their order, unless they are repeated
  // since the store did not answer. Any thread; does not call back at once.
  virtual void Post(KeyCommand command) = 0;

 protected:
  ~KeyStore() = default;
};

}  // namespace levee
