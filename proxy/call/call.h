// SPDX-License-Identifier: Apache-2.0
// One RPC as a state machine without I/O: admission, attempts, commit, deadline, replay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "base/block_cache.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "call/attempts.h"
#include "call/call_books.h"
#include "call/call_host.h"
#include "call/one_event.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/request_digest.h"
#include "guard/guard.h"
#include "policy/failed_calls.h"
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
class Call final : private GuardClient, private DedupeClient {
 public:
  explicit Call(const CallParts& parts);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Starts the first attempt, waits for its admission or for a rate limit, or finishes at once
  // (deadline passed or too near for any answer, throttled, rate limited, application retry
  // refused). A call of the kin of one that failed waits for its first message before that, but not
  // for long: some callers send none before they have an answer.
  void Start(const RequestFacts& facts, Instant now);

  // The answer of CallParts::admission, which is not known at once. Until it comes, the request is
  // kept as between two attempts, and everything that can end a call ends this one.
  void OnAdmission(const RateAdmission& answer, Instant now);

  // A piece of the request; `end`: the caller half-closed. Not called once committed.
  void OnRequest(const Chunk& chunk, bool end, Instant now);

  // As OnRequest, of what goes past the call once it is committed.
  void OnForwarded(const Chunk& chunk, bool end, Instant now) {
    const OneEvent event(&books_.parts.replay);
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
  bool keyed() const { return keyed_ != nullptr; }

  bool finished() const { return books_.finished; }
  bool committed() const { return attempts_.committed(); }

  // Its attempts call what follows, and no host does.
  //
  // Asks for the timer again: what is due in the call may have changed.
  void ArmTimer();

  // The service took so long for the call, as far as the attempt shows it.
  void OnServed(const ServiceTime& time) { served_in_ = time; }

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
  // A call of the kin of one that failed.
  struct LikeFailed {
    CallKin kin;
    std::optional<FirstMessage> message;  // none: the call waits for it, or did so in vain
    FailedCalls::Likeness likeness = FailedCalls::Likeness::kNone;
    bool waits = true;
  };

  // A call with an idempotency key.
  struct Keyed : InBlocks {
    Keyed(DedupeClient& client, const CallParts& parts, const RequestFacts& facts)
        : place(client, parts.worker, parts.dedupe->KeyOf(facts.dedupe_key), facts.dedupe_owner),
          request(facts.method) {}

    DedupePlace place;
    RequestDigest request;
    std::optional<Sha256> digest;  // once the request is complete
    bool has_key = false;
    bool needs_request = false;  // before it asks again
    bool asks_store = false;     // and nobody knows yet who has the key
    bool waits = false;          // for the first call with the key
    bool waited = false;
    bool dropped = false;                    // part of its request, which was compared only
    Instant since;                           // it has the key since then
    std::unique_ptr<LoneCalls::Place> lone;  // of a call that goes on without its caller
  };

  // Admission.
  bool AdmitByThrottle(Instant now);
  bool FindKin(Instant now);
  void LookAtMessage(Instant now);
  void Admit(Instant now);
  bool IsRepeated() const;
  bool IsAppRetry() const { return books_.app_attempts != 0 || IsRepeated(); }
  AppRetries AppRetriesRule() const;
  bool AdmitAppRetry(Instant now);
  bool ChargeAppRetry(Instant now);
  void AskAdmission(Instant now);
  void ActOnAdmission(const RateAdmission& answer, Instant now);
  void AdmitByRate(const RateAdmission& admission, Instant now);
  absl::Duration LeastTime(Instant now);
  void Begin(Instant now);

  // The key.
  bool BeginKeyed(const RequestFacts& facts, Instant now);
  bool HasKey(Instant now);
  bool ActOnKeyStep(const DedupeTable::Step& step, Instant now);
  bool RunWithoutStore(bool runs, std::string_view reason, Instant now);
  void DropPending();
  void NoteKeyedRequest(const Chunk& chunk, bool end);
  bool DropsRequest() const {
    return keyed_ != nullptr && (keyed_->waits || keyed_->needs_request);
  }
  void OnKey(Instant now) override;
  void OnKeyUnknown(Instant now) override;
  void OnKeyAnswer(const DedupeAnswer& answer, Instant now) override;
  void ActOnKeyAnswer(const DedupeAnswer& answer, Instant now);
  bool GoesOnAlone(Instant now);
  void GoOnAlone(Instant now);
  Instant ClaimEnd() const { return keyed_->since + books_.parts.policy.dedupe->claim; }
  void EndAlone(Instant now);
  DedupeEnding KeyEnding(const FinalStatus& status) const;
  void LeaveKey(const FinalStatus& status, Instant now);

  // These concern whether the call is a stream.
  void NoteRequest(const Chunk& chunk, bool end, Instant now) {
    if (!chunk.empty() && books_.signs.OnRequest(chunk, now)) BecomeStream(now);
    if (on_loan_ && books_.HasWork()) KeepLoan();
    if (keyed_ != nullptr) NoteKeyedRequest(chunk, end);
  }
  void AwaitTrailers(Instant now);
  void BecomeStream(Instant now);
  Instant IdleAt() const;
  void EndStream(StreamBound bound, Instant now);

  // The guard.
  bool TakesNoSlot() const;
  bool KeepsStreams() const;
  bool NeedsWork() const;
  void GoToGuard(Instant now);
  bool PassGuard(Instant now);
  void BorrowSlot(Instant now);
  void KeepLoan();
  void OnSlot(Instant now) override;
  void OnGuardRefused(const GuardRefusal& refusal, Instant now) override;
  void NoteArrival();
  void NoteRefusal(const GuardRefusal& refusal);
  std::string WhyRefused(GuardReason reason, int limit) const;
  void EndByGuard(const GuardRefusal& refusal, Instant now);
  void NoteSlot();
  void LeaveGuard(Instant now);
  void StartFirstAttempt(Instant now);

  // The end.
  void EndRefused(RefusalReason reason, std::string message, Instant now);
  void EndUnsent(MarkedStatus& marked, std::string_view reason, Instant now);
  void EndMarked(AttemptId id, const MarkedStatus& marked, Instant now);
  void EndLocally(StatusCode code, std::string_view message, Instant now);
  void RememberFailure(StatusCode code, bool marked, Instant now);
  void EndInVain(Instant now);
  void EndRateLimited(const RateAdmission& admission, Instant now);
  std::string_view WhatWasAwaited() const;
  void Finish(const FinalStatus& status, Instant now);

  CallBooks books_;
  Attempts attempts_;
  // It was asked for, and has not been refused or used for a first attempt.
  bool admission_open_ = false;

  std::unique_ptr<GuardPlace>
      guard_place_;                       // while it waits for a slot, would wait, or borrows one
  Instant guard_since_;                   // since then, or since it waits for its request
  bool awaits_work_ = false;              // it comes to the guard once its request does
  bool on_loan_ = false;                  // guard_place_ has a slot
  bool has_slot_ = false;                 // of the guard
  bool stream_slot_ = false;              // has_slot_, and the guard counts it among its streams
  bool new_slot_ = false;                 // or among its calls of new methods
  std::optional<ServiceTime> served_in_;  // for the guard to judge the service by

  std::unique_ptr<Keyed> keyed_;  // null: the call has no key

  bool app_retry_charged_ = false;
  std::unique_ptr<LikeFailed> like_failed_;

  // The rate limit's permit is due, or the first message or the guard's answer should have come.
  Instant entry_at_ = Instant::Infinite();
  Instant timer_at_ = Instant::Infinite();  // that the host was asked for
};

}  // namespace levee
