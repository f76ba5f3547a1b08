// SPDX-License-Identifier: Apache-2.0
// What the parts of one call share: what it works with, its request's facts, its times, its record.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/time/time.h"
#include "base/about_deadline.h"
#include "base/instant.h"
#include "base/random.h"
#include "call/admission.h"
#include "call/call_host.h"
#include "call/replay_memory.h"
#include "call/request_body.h"
#include "call/shadow_call.h"
#include "call/stream_signs.h"
#include "call/waiting_retries.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/key_shares.h"
#include "guard/guard.h"
#include "guard/guard_line.h"
#include "policy/adaptive_throttle.h"
#include "policy/failed_calls.h"
#include "policy/latency_estimate.h"
#include "policy/method_kind.h"
#include "policy/rate_limiter.h"
#include "policy/retry_budget.h"
#include "policy/retry_distribution.h"
#include "policy/retry_policy.h"
#include "policy/usual_answer.h"
#include "wire/call_record.h"

namespace levee {

// The calls of one plan have these in common. Everything referred to outlives them.
// Above 20 data members: each is one policy or one table of the plan.
struct CallPlanParts {
  const CallPolicy& policy;  // that of RetryPolicyOfHedging for a call that is hedged
  const OverloadPolicy& overload;
  RetryBudget& budget;
  LatencyEstimate& latency;   // of the destination
  FailedCalls& failed_calls;  // of the destination
  UsualAnswer& usual_answer;  // of the method
  int worker;                 // the budget's shard
  Random& random;
  ReplayLease& replay;
  std::string_view upstream;                       // the name in marks
  bool idempotent = false;                         // may be processed more than once
  const HedgePolicy* hedge = nullptr;              // not null: the call is hedged
  std::span<RateLimiter* const> rate_limits = {};  // as in the policy
  AdmissionSource* admission = nullptr;            // null: the rate limits alone admit the call
  RetryHistory* retries = nullptr;                 // of the destination; null: nobody asks for it
  WaitingRetries* waiting = nullptr;               // of the budget; null: no retry waits for it
  AdaptiveThrottle* throttle = nullptr;            // null: every call is sent; budget's shards
  bool inbound = false;                            // it came to a listener of that direction
  GuardLine* guard = nullptr;                      // null: nothing guards the service
  DedupeTable* dedupe = nullptr;                   // null: calls with equal keys are not joined
  ShadowPlan* shadow = nullptr;                    // null: no other policy decides beside it
};

// The objects that a call works with. They outlive the call. `method` and `guard_method` are those
// of the plan as the call begins, for a plan may get others.
struct CallParts {
  CallHost& host;
  const CallPlanParts& plan;
  MethodKind& method;
  uint64_t sender;                     // who the caller is: a hash, as ConnectionOrigin's
  int guard_method = Guard::kMethods;  // its number, where the plan has a guard
};

// Facts that the request's head states.
struct RequestFacts {
  absl::Duration timeout = absl::InfiniteDuration();  // grpc-timeout
  int previous_attempts = 0;                          // grpc-previous-rpc-attempts
  std::span<const LimitKey> rate_keys = {};           // one per rate limit; they outlive the call
  int priority = 0;                                   // for the guard: 0, the highest, to 127
  uint64_t user = 0;                                  // for the guard: a hash of the user
  bool in_vain = false;  // the caller of the call that it is made for has gone
  // With CallPlanParts::dedupe: the idempotency key with its scope; empty: the call has none. To
  // whom it belongs. And the method, which is part of what the request is.
  std::string_view dedupe_key;
  KeyOwner dedupe_owner;
  std::string_view method;
  // Not empty: with CallPlanParts::dedupe, why the call is refused for its key, as a static text.
  std::string_view dedupe_fault;
};

// Every part of a call reads it. Call::Start fills in the facts of the request and the times. One
// thread.
struct CallBooks {
  explicit CallBooks(const CallParts& parts)
      : host(parts.host),
        plan(parts.plan),
        method(parts.method),
        guard_method(parts.guard_method),
        signs(parts.method),
        body(plan.policy.retry.buffer_bytes, plan.replay, parts.sender) {}

  CallHost& host;
  const CallPlanParts& plan;
  MethodKind& method;
  // As in RequestFacts.
  std::span<const LimitKey> rate_keys;
  uint64_t user = 0;
  int priority = 0;
  int app_attempts = 0;  // RequestFacts::previous_attempts, bounded
  const int guard_method;
  bool finished = false;
  StreamSigns signs;
  RequestBody body;
  Instant deadline = Instant::Infinite();
  Instant callers_deadline = Instant::Infinite();  // as the caller states it
  // A caller that leaves from here on has seen its own deadline pass; never, if it has none.
  Instant callers_leave_from = Instant::Infinite();
  CallRecord record;

  bool Observes() const { return plan.policy.retry.mode == RetryMode::kObserve; }

  // Whether the request shows that there is something to do for the service.
  bool HasWork() const {
    return body.half_closed() || !body.replayable() || signs.request().HasOne();
  }

  // Whether what ends now ends because the deadline passes.
  bool EndsByDeadline(Instant now) const { return IsAboutDeadline(now, record.start, deadline); }
};

}  // namespace levee
