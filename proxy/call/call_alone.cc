// SPDX-License-Identifier: Apache-2.0
// How a call with an idempotency key goes on when its caller has gone.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "call/call.h"

namespace levee {

// Whether a call whose caller goes now goes on, so that the answer is there when the caller repeats
// it. Else it ends as any other call does. A place for it is taken.
bool Call::GoesOnAlone(Instant now) {
  if (keyed_ == nullptr || !keyed_->has_key || !half_closed_ || now >= ClaimEnd()) return false;
  // Its answer cannot be kept.
  if (signs_.answer().IsStream()) return false;
  // It has surely not run, so it can as well run when it is repeated.
  const auto has_left = [this](const ActiveAttempt& attempt) {
    return parts_.host.HasLeft(attempt.id);
  };
  if (absl::c_none_of(active_, has_left)) return false;
  if (parts_.guard == nullptr) return true;
  Guard& guard = parts_.guard->guard();
  const int slots = guard.policy().observe ? 0 : guard.GetSlots().limit;
  keyed_->lone = guard.lone_calls().Enter(keyed_->place.owner().sender, slots);
  record_.lone_calls_full = keyed_->lone == nullptr;
  return keyed_->lone != nullptr;
}

// The call goes on in the attempts that have left, and makes no others.
void Call::GoOnAlone(Instant now) {
  alone_ = true;
  CancelRetry(now);
  const ActiveAttempts running = active_;
  for (const ActiveAttempt& attempt : running) {
    if (!parts_.host.HasLeft(attempt.id)) Abandon(attempt.id, StatusCode::kCancelled, now);
  }
  callers_deadline_ = std::min(callers_deadline_, ClaimEnd());
  deadline_ = std::min(deadline_, callers_deadline_);
  ArmTimer();
}

// Nobody waits for the answer any more, or it cannot be kept. That says nothing about the upstream.
void Call::EndAlone(Instant now) {
  EndLocally(StatusCode::kCancelled, "the caller has gone, and the call was given up", now);
}

}  // namespace levee
