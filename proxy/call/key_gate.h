// SPDX-License-Identifier: Apache-2.0
// How a call with an idempotency key runs once, and calls that repeat it get its answer.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/block_cache.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "base/sha256.h"
#include "call/attempts.h"
#include "call/call_books.h"
#include "call/call_host.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/request_digest.h"
#include "guard/lone_calls.h"

namespace levee {

class Call;

// Of a call to the application that has a key. One thread.
class KeyGate final : public InBlocks, private DedupeClient {
 public:
  // `books`, `call`: outlive it. `call`: goes on, or ends, when it is told to. `facts`: of the
  // call, which has a key; CallPlanParts::dedupe is not null.
  KeyGate(CallBooks& books, Call& call, const RequestFacts& facts) : books_(books), call_(call) {
    keyed_.emplace(static_cast<DedupeClient&>(*this), books.plan, facts);
  }
  KeyGate(const KeyGate&) = delete;
  KeyGate& operator=(const KeyGate&) = delete;

  // Whether the call may run now. If not, it waits, until due() at the longest, or is finished.
  bool Enter(Instant now) { return !keyed() || keyed_->stage == Stage::kHasKey || Ask(now); }
  Instant due() const { return due_; }

  // Whether the key counts. It does not where the call runs although it cannot be stored.
  bool keyed() const { return keyed_.has_value(); }

  // Whether the call asks again once its request is complete.
  bool needs_request() const { return stage() == Stage::kNeedsRequest; }

  // Whether the request is compared and not kept: Drop tells that this has happened.
  bool drops_request() const { return needs_request() || stage() == Stage::kWaits; }
  void Drop() { keyed_->dropped = true; }

  // A piece of the request of a call with a key has come; `end`: the last one.
  void OnRequest(const Chunk& chunk, bool end);

  // Returns what a call waits for that has made no attempt; empty: not for its key.
  std::string_view WhatIsAwaited() const;

  // Whether a call whose caller goes now goes on, so that the answer is there when the caller
  // repeats it. Else it ends as any other call does. A place for it is taken.
  bool GoesOnAlone(const Attempts& attempts, Instant now);

  // When the call that has the key may lose it.
  Instant ClaimEnd() const { return keyed_->since + books_.plan.policy.dedupe->claim; }

  // The call, which has a key, ends with this status.
  void Leave(const FinalStatus& status, const Attempts& attempts, Instant now);

 private:
  enum class Stage {
    kOutside,       // it has no key, or has not asked for it
    kNeedsRequest,  // it asks again once its request is complete
    kAsksStore,     // nobody knows yet who has the key
    kWaits,         // for the first call with the key
    kHasKey,
  };

  struct Keyed {
    Keyed(DedupeClient& client, const CallPlanParts& plan, const RequestFacts& facts)
        : place(client, plan.worker, plan.dedupe->KeyOf(facts.dedupe_key), facts.dedupe_owner),
          request(facts.method) {}

    DedupePlace place;
    RequestDigest request;
    std::optional<Sha256> digest;  // once the request is complete
    Stage stage = Stage::kOutside;
    bool waited = false;
    bool dropped = false;                    // part of its request, which was compared only
    Instant since;                           // it has the key since then
    std::unique_ptr<LoneCalls::Place> lone;  // of a call that goes on without its caller
  };

  Stage stage() const { return keyed() ? keyed_->stage : Stage::kOutside; }
  bool Ask(Instant now);
  static Stage StageOf(const DedupeTable::Step& step);
  bool ActOn(const DedupeTable::Step& step, Instant now);
  bool RunWithoutStore(bool runs, std::string_view reason, Instant now);
  void DropPending();
  void OnKey(Instant now) override;
  void OnKeyUnknown(Instant now) override;
  void OnKeyAnswer(const DedupeAnswer& answer, Instant now) override;
  void ActOnAnswer(const DedupeAnswer& answer, Instant now);

  CallBooks& books_;
  Call& call_;
  std::optional<Keyed> keyed_;  // none: the call goes on without its key
  Instant due_ = Instant::Infinite();
};

}  // namespace levee
