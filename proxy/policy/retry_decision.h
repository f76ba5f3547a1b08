// SPDX-License-Identifier: Apache-2.0
// Decides what follows a failed attempt. Pure: no clock, no I/O, no state but what is passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "policy/backoff.h"
#include "policy/retry_budget.h"
#include "policy/retry_policy.h"
#include "wire/overload_mark.h"
#include "wire/pushback.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

// Where an attempt ran.
struct AttemptPlace {
  int64_t endpoint = -1;        // opaque to policies, for `avoid`; -1: it reached none
  bool other_endpoint = false;  // another endpoint could take the next attempt
};

// How one attempt ended.
struct AttemptOutcome {
  enum class Kind {
    kStatus,   // the upstream sent a grpc-status, or ended a gRPC answer without one
    kHttp,     // an answer that is not gRPC (`http_status`)
    kRefused,  // REFUSED_STREAM, or a GOAWAY that excludes the stream: surely not processed
    kConnect,  // no endpoint could be reached, nothing was sent
    kReset,    // RST_STREAM or connection lost after the request left
    kTimeout,  // attempt_timeout passed (made by Call itself)
    kUnsent,   // the stream was opened but never left Levee: no attempt at all
  };
  Kind kind = Kind::kStatus;
  StatusCode code = StatusCode::kUnknown;  // the mapped code; kOk only with kStatus
  int http_status = 0;                     // kHttp only
  std::string message;                     // for failures: unencoded text, may be empty
  Pushback pushback;
  absl::Duration advice = absl::ZeroDuration();  // wire/retry_advice.h; zero: none
  std::optional<OverloadMark> mark;
  AttemptPlace place;
  // kStatus: the connection was to be closed by then (GOAWAY). gRPC servers that are shut down end
  // the calls that still run with UNAVAILABLE, as if the application had said so. kRefused: by a
  // GOAWAY.
  bool leaving = false;
};

// The facts about the call that the decision depends on.
struct RetryFacts {
  int attempts = 1;               // made so far, transparent ones excluded
  bool answered = false;          // the answer has begun to go to the caller
  bool transparent_used = false;  // the one immediate retry outside max_attempts
  bool replayable = true;         // the request body is still all in the buffer
  bool idempotent = false;
  Instant deadline = Instant::Infinite();
  Instant first_start;  // of the call's first attempt
  // How long half of the attempts take at least, where there is a deadline; zero: unknown.
  absl::Duration expected = absl::ZeroDuration();
  // The call came to the side of the service. Retries belong to the caller's side: a mark of a
  // failure would keep that one from trying another instance.
  bool inbound = false;
  bool may_wait = false;  // a retry may wait for a success (call/waiting_retries.h)
  Instant first_failed;   // when the first of the call's attempts failed
  int timeouts = 0;       // attempts of the call that have timed out
};

struct RetryDecision {
  enum class Action {
    kRetry,    // start another attempt after `delay`; `price` has been paid for it
    kWait,     // as kRetry, but it is not paid for: after `delay` it waits for a success
    kRefused,  // it was retryable but is not retried: `reason`
    kPass,     // not retryable: the outcome goes to the caller as it is
  };
  Action action = Action::kPass;
  absl::Duration delay = absl::ZeroDuration();
  int price = 0;                             // of kRetry, in credits; 0: it is free of charge
  Instant wait_until = Instant::Infinite();  // of kWait: the call itself waits no longer
  bool wait_bounded = false;                 // `wait_until` is that for the sake of the deadline
  bool transparent = false;                  // outside max_attempts and the attempt header
  bool backed_off = false;                   // `delay` came from the backoff or from advice
  RetryTrigger trigger = RetryTrigger::kStatus;
  RefusalReason reason = RefusalReason::kBudget;
};

// A retryable outcome's trigger, nullopt if neither the policy nor one of its rules lists it.
// `kReset` and `kTimeout` are listed for idempotent calls even when `failures` does not have them,
// and an answer that is marked with scope endpoint always is.
std::optional<RetryTrigger> Retryable(const RetryPolicy& policy, const AttemptOutcome& outcome,
                                      bool idempotent);

// Whether the attempt speaks well of its upstream: it succeeded, or it failed with a status that
// the policy would not retry, which is the application's answer. Every other failure is the
// upstream's, also where the policy would not retry it.
bool CountsAsSuccess(const RetryPolicy& policy, const AttemptOutcome& outcome, bool idempotent);

// Returns what the budget has to know of an attempt. `price`: that was paid for it.
AttemptEnd EndOf(const AttemptOutcome& outcome, bool success, int price);

// Whether the end of an attempt is one of the `signs` of an overloaded upstream.
bool SaysOverload(const OverloadSigns& signs, const AttemptOutcome& outcome);

// The objects that a decision changes.
struct RetryMeans {
  Random& random;
  Backoff& backoff;  // of the call
  RetryBudget& budget;
  int worker;  // whose share of the budget is charged
};

// Decides. The backoff advances iff a delay is drawn. The budget is charged last, iff everything
// else allows the retry. The order of checks: committed, overload mark or negative pushback,
// retryable, transparent (unsent: free of charge; refused: once, free while fewer than half of the
// last attempts there were refused so, or behind a GOAWAY; both need only a replayable body and
// time), idempotent, attempts left, body replayable, advice, max_elapsed, delay (none where the
// mark is for one endpoint) and attempt before the deadline, budget. A retry may wait behind a
// failure that says that the upstream was away, and not that it was busy (RetryBudget::Ask). The
// call ends such a wait so long before its deadline that the caller learns why: a twentieth of what
// is left and what half of the attempts take, at least 10 ms. A retry for which that leaves no time
// to wait does not. An observing policy refuses (kObserve) every retry that all checks allow,
// except for a stream that never left Levee; the budget is charged as if the retry were made.
RetryDecision DecideRetry(const CallPolicy& policy, const AttemptOutcome& outcome,
                          const RetryFacts& facts, Instant now, const RetryMeans& means);

// The answer to the caller when a call ends without success.
struct FinalAnswer {
  bool marked = false;  // else: the outcome unchanged
  StatusCode code = StatusCode::kUnknown;
  OverloadMark mark;
  std::string message;
};

// The facts that the answer depends on, besides the outcome.
struct ExhaustionFacts {
  int attempts = 1;
  int failed_endpoints = 1;   // distinct endpoints on which attempts failed
  int endpoints = 1;          // endpoints that the upstream has
  std::string_view upstream;  // for the mark
  // Of a call whose last retry waited for a success in vain.
  struct Wait {
    absl::Duration waited;
    bool bounded = false;         // the deadline ended it
    std::string_view endpoint{};  // that failed last, as people read it; empty: none was reached
  };
  std::optional<Wait> wait;
};

// The table "When retrying ends without success" of the policy's documentation. `reason`: why no
// retry was made; nullopt when the failure was not retryable.
FinalAnswer AnswerWhenExhausted(ExhaustedMode mode, const OverloadPolicy& overload,
                                const AttemptOutcome& outcome, std::optional<RefusalReason> reason,
                                const ExhaustionFacts& facts);

}  // namespace levee
