// SPDX-License-Identifier: Apache-2.0
// How a call with an idempotency key goes on when its caller has gone.
#include <algorithm>

#include "call/call.h"

namespace levee {

// Whether a call whose caller goes now goes on, so that the answer is there when the caller repeats
// it. Else it ends as any other call does. A place for it is taken.
bool Call::GoesOnAlone(Instant now) {
  if (keyed_ == nullptr || !keyed_->has_key || !books_.body.half_closed() || now >= ClaimEnd())
    return false;
  // Its answer cannot be kept.
  if (books_.signs.answer().IsStream()) return false;
  // It has surely not run, so it can as well run when it is repeated.
  if (!attempts_.AnyHasLeft()) return false;
  if (books_.parts.guard == nullptr) return true;
  Guard& guard = books_.parts.guard->guard();
  const int slots = guard.policy().observe ? 0 : guard.GetSlots().limit;
  keyed_->lone = guard.lone_calls().Enter(keyed_->place.owner().sender, slots);
  books_.record.lone_calls_full = keyed_->lone == nullptr;
  return keyed_->lone != nullptr;
}

// The call goes on in the attempts that have left, and makes no others.
void Call::GoOnAlone(Instant now) {
  attempts_.GoOnAlone(now);
  books_.callers_deadline = std::min(books_.callers_deadline, ClaimEnd());
  books_.deadline = std::min(books_.deadline, books_.callers_deadline);
  ArmTimer();
}

// Nobody waits for the answer any more, or it cannot be kept. That says nothing about the upstream.
void Call::EndAlone(Instant now) {
  EndLocally(StatusCode::kCancelled, "the caller has gone, and the call was given up", now);
}

}  // namespace levee
