// SPDX-License-Identifier: Apache-2.0
// What a call to the application passes before its first attempt: its key, then its guard.
#pragma once

#include <algorithm>

#include "base/block_cache.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "call/call_books.h"
#include "call/guard_gate.h"
#include "call/key_gate.h"

namespace levee {

// Made only for calls that have one of the two, since most calls have neither. One thread.
struct InboundEntry : InBlocks {
  InboundEntry(CallBooks& books, Call& call) : key(books, call), guard(books, call) {}

  // When the call is to come to its gates again.
  Instant due() const { return std::min(key.due(), guard.due()); }

  // A piece of the request has come.
  void OnRequest(const Chunk& chunk, bool end) {
    guard.OnRequest();
    if (key.keyed()) key.OnRequest(chunk, end);
  }

  KeyGate key;
  GuardGate guard;
};

}  // namespace levee
