// SPDX-License-Identifier: Apache-2.0
// How a retry waits for a success to pay for it.
#include <memory>

#include "call/call.h"

namespace levee {

void Call::ActOnNext(NextAttempt::Step step, Instant now) {
  switch (step) {
    case NextAttempt::Step::kWaits:
      return;
    case NextAttempt::Step::kStart:
      StartAttempt(next_.Take(), now);
      return;
    case NextAttempt::Step::kInVain:
      EndWait(now);
      return;
  }
}

void Call::OnPaid(Instant now) {
  const OneEvent event(&books_.parts.replay);
  next_.OnPaid(now);
  StartAttempt(next_.Take(), now);
}

void Call::OnFirstInLine() {
  const OneEvent event(&books_.parts.replay);
  next_.OnFirstInLine();
  ArmTimer();
}

void Call::OnWaitOver(Instant now) {
  const OneEvent event(&books_.parts.replay);
  ActOnNext(next_.OnDue(now), now);
}

// Nothing has paid for the retry, which may have waited for that: the call ends as one that the
// budget refuses, unless other attempts of it are under way.
void Call::EndWait(Instant now) {
  const std::unique_ptr<UnpaidRetry> unpaid = next_.TakeUnpaid();
  if (WaitForOthers(RefusalReason::kBudget, now)) return;
  EndExhausted(unpaid->failed, unpaid->outcome, RefusalReason::kBudget, now,
               unpaid->waited ? &books_.record.waits.back() : nullptr);
}

}  // namespace levee
