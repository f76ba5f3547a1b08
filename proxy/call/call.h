// SPDX-License-Identifier: Apache-2.0
// One RPC as a state machine without I/O: admission, attempts, commit, deadline, replay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "base/instant.h"
#include "call/attempts.h"
#include "call/call_books.h"
#include "call/call_host.h"
#include "call/egress_entry.h"
#include "call/guard_gate.h"
#include "call/key_gate.h"
#include "call/one_event.h"
#include "policy/rate_limiter.h"
#include "policy/retry_decision.h"
#include "policy/retry_policy.h"
#include "wire/call_record.h"

namespace levee {

// The host creates it with the request's head, tells it events, each with `now` and none within
// another (OneEvent), and destroys it after Finish. One thread. At most one attempt is active at a
// time, unless the call is hedged.
//
//   Start -> [first message] -> [admission's answer] -> [rate limit's wait]
//   -> [answer of the first call with its key] -> [first message] -> [guard's queue] -> attempt ->
//   [failure -> DecideRetry -> backoff -> [wait for a success] -> attempt]*
//                                      \-> [hedge delay -> attempt beside it]*
//         -> commit (head, message, buffer full) -> bodies bypass the call -> Finish
//
// Above 30 functions: half of them are the events of the host, which it hands to its parts.
class Call final {
 public:
  explicit Call(const CallParts& parts);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Starts the first attempt, waits for its admission or for a rate limit, or finishes at once
  // (deadline passed or too near for any answer, throttled, rate limited, application retry
  // refused). A call of the kin of one that failed waits for its first message before that, but not
  // for long: some callers send none before they have an answer.
  void Start(const RequestFacts& facts, Instant now);

  // The answer of CallPlanParts::admission, which is not known at once. Until it comes, the request
  // is kept as between two attempts, and everything that can end a call ends this one.
  void OnAdmission(const RateAdmission& answer, Instant now);

  // A piece of the request; `end`: the caller half-closed. Not called once committed.
  void OnRequest(const Chunk& chunk, bool end, Instant now);

  // As OnRequest, of what goes past the call once it is committed.
  void OnForwarded(const Chunk& chunk, bool end, Instant now) {
    const OneEvent event(&books_.plan.replay);
    if (end) books_.body.HalfClose();
    NoteRequest(chunk, end, now);
  }

  // The caller reset its stream or its connection was lost. About when its deadline passes, that is
  // what it means, and the call ends as it does at its own; else it ends as CANCELLED, which says
  // nothing about the upstream. A call with a key may go on alone.
  void OnCallerGone(Instant now);

  // The attempt's response head came: a gRPC answer that has not ended yet. 1xx heads and answers
  // that are not gRPC are not heads. Told also when the call is committed already.
  void OnHead(AttemptId attempt, Instant now);

  // A piece of the response body came. Afterwards the call is committed to the attempt.
  void OnMessage(AttemptId attempt, const Chunk& piece, Instant now);

  // The attempt is over, one way or the other. Its last event. An upstream that cancels it about
  // when the call's deadline passes has seen its own copy of the deadline pass, and the call ends
  // as it does at its own.
  void OnAttemptEnd(AttemptId attempt, const AttemptOutcome& outcome, Instant now);

  // The timer asked for by CallHost::SetTimer.
  void OnTimer(Instant now);

  // A retry of the call has waited for a success to pay for it, and goes now.
  void OnPaid(Instant now);

  // A retry of the call waits, and has become the first in line.
  void OnFirstInLine();

  // A retry of the call has waited in vain.
  void OnWaitOver(Instant now);

  // The message of an answer that is UNAVAILABLE for want of memory.
  static constexpr char kOutOfMemory[] = "the sidecar has no memory left (limits.memory)";

  // The caller of the call that this one is made for has gone: ends it with CANCELLED.
  void OnInVain(Instant now);

  // The process has no memory left: ends the call with UNAVAILABLE.
  void OnOutOfMemory(Instant now);

  // The bytes of the request that it holds: for retries, or until an attempt carries them.
  size_t kept_bytes() const { return books_.body.held_bytes(); }

  // After CallHost::OnBroken: ends the call with INTERNAL.
  void OnBroken(Instant now);

  // The message of such an answer.
  static constexpr char kBroken[] =
      "the sidecar broke a rule of its own in this call; its log says which: please report it";

  // The application takes no connections: ends the call with UNAVAILABLE, unless it has made an
  // attempt.
  void OnApplicationGone(Instant now);

  // The sidecar stops and cannot wait for the call any longer: ends it with UNAVAILABLE.
  void OnDrainTimeout(Instant now);

  // Whether the call is a stream, as far as is known.
  bool is_stream() const { return books_.signs.is_stream(); }

  // Whether the call, which has begun, has an idempotency key that counts.
  bool keyed() const { return key_ != nullptr && key_->keyed(); }

  bool finished() const { return books_.finished; }
  bool committed() const { return attempts_.committed(); }

  // Its parts call what follows, and no host does.
  //
  // Something is due in the call at `due`, or the call has another bound: asks for the timer,
  // unless it comes early enough. OnTimer finds out what is due, and it may find nothing.
  void WakeBy(Instant due);

  // As that of GuardGate.
  void OnServed(uint32_t record, GuardGate::Served how) { guard_.OnServed(record, how); }

  // The call, which is admitted, comes to its gates, first or again.
  void Begin(Instant now);

  // The call has passed all that comes before its first attempt.
  void StartFirstAttempt(Instant now);

  // The call, which was not known as a stream when it began, is one.
  void BecomeStream(Instant now);

  // Ends the call.
  void Finish(const FinalStatus& status, Instant now);

  // Ends the call with a status of Levee's own. `message`: unencoded text.
  void EndLocally(StatusCode code, std::string_view message, Instant now);

  // Ends the call with a mark, without waiting for an answer. `marked` has its message and its
  // scope; `reason`: of the mark, a static text.
  void EndUnsent(MarkedStatus& marked, std::string_view reason, Instant now);

  // Ends the call, which is refused before its first attempt, with the agreed answer.
  void EndRefused(RefusalReason reason, std::string message, Instant now);

  // Ends the call with the answer of the attempt.
  void EndForwarding(AttemptId id, StatusCode code, Instant now);

  // Ends the call after its last attempt failed so. `reason`: why no other follows; none: the
  // failure is not to be retried. `vain`: the wait in vain with which the call ends; nullptr: it
  // did not wait.
  void EndExhausted(AttemptId id, const AttemptOutcome& outcome,
                    std::optional<RefusalReason> reason, Instant now,
                    const WaitRecord* vain = nullptr);

  // Ends the call because its deadline has passed, or is about to.
  void EndAtDeadline(Instant now);

 private:
  bool BeginKey(const RequestFacts& facts, Instant now);
  absl::Duration LeastTime(Instant now);
  Instant GatesDue() const;
  void ArmTimer();

  void GoOnAlone(Instant now);
  void EndAlone(Instant now);

  // These concern whether the call is a stream.
  void NoteRequest(const Chunk& chunk, bool end, Instant now) {
    if (!chunk.empty() && books_.signs.OnRequest(chunk, now)) BecomeStream(now);
    guard_.OnRequest();
    if (key_ != nullptr) key_->OnRequest(chunk, end);
  }
  void AwaitTrailers(Instant now);
  Instant IdleAt() const;
  void EndStream(StreamBound bound, Instant now);

  // These end the call.
  void EndMarked(AttemptId id, const MarkedStatus& marked, Instant now);
  void EndInVain(Instant now);
  std::string_view WhatWasAwaited() const;

  CallBooks books_;
  Attempts attempts_;
  EgressEntry entry_;
  std::unique_ptr<KeyGate> key_;  // null: the call has no key
  GuardGate guard_;
  Instant timer_at_ = Instant::Infinite();  // that the host was asked for
};

}  // namespace levee
