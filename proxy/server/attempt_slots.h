// SPDX-License-Identifier: Apache-2.0
// The attempts of one call on the network.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/random.h"
#include "call/call_host.h"
#include "server/request_head.h"
#include "server/upstream_attempt.h"
#include "wire/metadata.h"

namespace levee {

// An attempt, and what it has brought while its call was not committed.
struct AttemptSlot {
  AttemptSlot(RpcStream& rpc, Random& random, const Hop& hop) : attempt(rpc, random, hop) {}

  UpstreamAttempt attempt;
  bool active = false;
  bool head_waits = false;  // `head` is not forwarded yet
  Metadata head;
  size_t sent = 0;  // bytes of the request
};

// An attempt that is over keeps its slot until another one takes it. One thread.
class AttemptSlots {
 public:
  // As for UpstreamAttempt.
  AttemptSlots(RpcStream& rpc, Random& random, const Hop& hop) : first_(rpc, random, hop) {}

  // Returns the slot of the last attempt that had this number; nullptr if none has it any more.
  AttemptSlot* Find(AttemptId id) {
    if (first_.attempt.id() == id) return &first_;
    for (const auto& slot : hedges_) {
      if (slot->attempt.id() == id) return slot.get();
    }
    return nullptr;
  }

  // Returns a slot for another attempt, which is active now.
  AttemptSlot& Take(RpcStream& rpc, Random& random, const Hop& hop) {
    AttemptSlot& slot = Idle(rpc, random, hop);
    slot.active = true;
    slot.head_waits = false;
    slot.sent = 0;
    return slot;
  }

  // Calls f(UpstreamAttempt&) for each attempt that is under way.
  template <typename F>
  void ForEachActive(F f) const {
    if (first_.active) f(first_.attempt);
    for (const auto& slot : hedges_) {
      if (slot->active) f(slot->attempt);
    }
  }

 private:
  AttemptSlot& Idle(RpcStream& rpc, Random& random, const Hop& hop) {
    if (!first_.active) return first_;
    for (const auto& slot : hedges_) {
      if (!slot->active) return *slot;
    }
    return *hedges_.emplace_back(std::make_unique<AttemptSlot>(rpc, random, hop));
  }

  AttemptSlot first_;
  std::vector<std::unique_ptr<AttemptSlot>> hedges_;  // for attempts beside the one in first_
};

}  // namespace levee
