// SPDX-License-Identifier: Apache-2.0
// The one place where everybody who counts successes and failures hears that an attempt ended.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"
#include "call/active_attempts.h"
#include "call/call_books.h"
#include "call/shadow_call.h"
#include "policy/retry_decision.h"

namespace levee {

// The listeners are the budget, the shadow, the host for the endpoint's sake, the retries that
// wait, the throttle and the rate limits. Made where an attempt ends, since it holds nothing. One
// thread.
class AttemptEnds {
 public:
  // Both outlive it. `shadow`: nullptr if no policy decides beside.
  AttemptEnds(CallBooks& books, ShadowCall* shadow) : books_(books), shadow_(shadow) {}

  // The attempt, whose record is closed, ended so.
  void Tell(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now);

  // As Tell, of an attempt that ended because the call's deadline passed. That says nothing about
  // the upstream unless the attempt had the time that nine of ten answers of its method take: the
  // caller has chosen both.
  void TellAtDeadline(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now) {
    const absl::Duration took = now - books_.record.attempts[attempt.record].start;
    if (books_.plan.usual_answer.HadTime(took)) Tell(attempt, outcome, now);
  }

  // The attempt began to answer at `answered`, and ends now. Until its end nobody knows that a call
  // is unary, so only then its latency is worth something.
  void TellLatency(const ActiveAttempt& attempt, Instant answered, Instant now) {
    if (books_.signs.is_stream()) return;
    const absl::Duration took = answered - books_.record.attempts[attempt.record].start;
    books_.plan.latency.Record(took, now);
    books_.plan.usual_answer.Record(took);
  }

 private:
  void TellThrottle(const AttemptOutcome& outcome, Instant now);

  CallBooks& books_;
  ShadowCall* const shadow_;
};

}  // namespace levee
