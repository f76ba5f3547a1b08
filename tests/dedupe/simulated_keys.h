// SPDX-License-Identifier: Apache-2.0
// A shared store of keys as a model: it goes by the same rule as Redis' scripts.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/instant.h"
#include "dedupe/key_claim.h"
#include "dedupe/key_store.h"

namespace levee {

class SimulatedKeys {
 public:
  KeyReply Run(const KeyCommand& command, Instant now) {
    const auto found = claims_.find(command.key);
    KeyClaim* claim = found == claims_.end() ? nullptr : &found->second;
    if (claim != nullptr && now >= claim->expires) {
      claims_.erase(found);
      claim = nullptr;
    }
    if (command.kind == KeyCommand::Kind::kAsk) return Ask(command, claim, now);
    return Put(command, claim, now);
  }

  // It was emptied, or one took over that knows nothing.
  void Forget() { claims_.clear(); }

  size_t size() const { return claims_.size(); }

 private:
  KeyReply Ask(const KeyCommand& command, const KeyClaim* claim, Instant now) {
    const KeyView view = LookAtKey(claim, command.digest, now);
    if (!MayTakeKey(view, command.on_lost)) return {.claim = *claim};
    Write(command, now);
    return {.done = true};
  }

  KeyReply Put(const KeyCommand& command, const KeyClaim* claim, Instant now) {
    using Kind = KeyCommand::Kind;
    if (claim == nullptr && command.kind != Kind::kKeep) return {};
    if (claim != nullptr && (claim->answer != nullptr || claim->token != command.token)) return {};
    if (command.kind == Kind::kRelease) {
      claims_.erase(command.key);
    } else {
      Write(command, now);
    }
    return {.done = true};
  }

  void Write(const KeyCommand& command, Instant now) {
    const Instant until = now + command.claim;
    const bool ended = command.answer != nullptr;
    claims_[command.key] = {.token = command.token,
                            .digest = command.digest,
                            .answer = command.answer,
                            .until = until,
                            .expires = (ended ? now : until) + command.ttl};
  }

  std::map<Sha256, KeyClaim> claims_;
};

}  // namespace levee
