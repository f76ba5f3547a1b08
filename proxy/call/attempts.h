// SPDX-License-Identifier: Apache-2.0
// The attempts of one call: which are under way, which is next, to which one the call is committed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/time/time.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "call/active_attempts.h"
#include "call/attempt_ends.h"
#include "call/call_books.h"
#include "call/call_host.h"
#include "call/failed_endpoints.h"
#include "call/next_attempt.h"
#include "call/shadow_call.h"
#include "policy/backoff.h"
#include "policy/retry_decision.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

class Call;

// Starts attempts, follows failed ones by others (attempt_failure.cc), hedges, and commits the call
// to one. Once an attempt has the call's answer, or none will, it ends the call. At most one
// attempt is under way at a time, unless the call is hedged. One thread. Above 30 functions: how an
// attempt starts, ends and is followed by another one works on the same few facts.
class Attempts {
 public:
  // Both outlive it. `call`: ends when it is told to, and gives the timer.
  Attempts(CallBooks& books, Call& call) : books_(books), call_(call), next_(books) {}
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  // Starts the call's first attempt. `price`: that was paid for it from the budget. `pays`: the
  // call pays for retries of others.
  void StartFirst(int price, bool pays, Instant now);

  // Passes the next piece of the request on. The body has it already, if it is kept.
  void SendRequest(const Chunk& chunk, bool end, Instant now) {
    for (const ActiveAttempt& attempt : active_) {
      books_.host.SendRequest(attempt.id, chunk, end);
    }
    // Of several attempts the first has had the most time.
    if (!books_.body.replayable() && !active_.empty()) Commit(active_.oldest().id, now);
  }

  // An attempt's events, as those of Call. Ignored if it is not under way.
  void OnHead(AttemptId id, Instant now);
  void OnEnd(AttemptId id, const AttemptOutcome& outcome, Instant now);

  // A piece of the attempt's answer has come: the call is committed to it.
  void OnMessage(AttemptId id, Instant now) { CommitToAnswer(id, now); }

  // As those of Call.
  void OnPaid(Instant now);
  void OnFirstInLine();
  void OnWaitOver(Instant now);

  // The call has turned out to be a stream.
  void OnStream();

  // The caller has gone: the call goes on in the attempts that have left, and makes no others.
  void GoOnAlone(Instant now);

  // Something is due. May end the call.
  void OnDue(Instant now);
  Instant due() const { return std::min({hedge_at_, next_.due(), active_.NextDue()}); }

  // The call's deadline has passed, or is about to: gives up what is under way.
  void OnDeadline(Instant now);

  // Gives up what is under way because of a bound of the call's policy.
  void AbandonAll(StatusCode code, Instant now) { AbandonOthers(/*kept=*/0, code, now); }

  // The call ends: gives up all that is scheduled and under way.
  void Close(Instant now);

  // The call's answer is that of the attempt. Nothing happens if it has begun to go to the caller.
  void CommitToAnswer(AttemptId id, Instant now) {
    if (!answered_) BeginAnswer(id, now);
  }

  // Whether none, or this one, is under way.
  bool empty() const { return active_.empty(); }
  bool Has(AttemptId id) { return active_.Find(id) != nullptr; }

  // Whether an attempt is under way of which the upstream may have something.
  bool AnyHasLeft() const {
    return absl::c_any_of(
        active_, [this](const ActiveAttempt& attempt) { return books_.host.HasLeft(attempt.id); });
  }

  bool scheduled() const { return next_.scheduled(); }

  // How many were made, transparent ones excluded: what max_attempts counts.
  int made() const { return made_; }

  // How many endpoints have failed.
  int failed_endpoints() const { return static_cast<int>(failed_endpoints_.all().size()); }

  // Whether the answer goes to the caller, or the request could not be kept.
  bool committed() const { return committed_; }

  // Whether the caller has gone, and the call goes on all the same.
  bool alone() const { return alone_; }

  // Whether the service may have run the call, and nobody knows the answer.
  bool may_have_run() const { return may_have_run_; }

  // The last status that the application itself sent; none: it sent none.
  std::optional<StatusCode> application_said() const { return application_said_; }

 private:
  // These start one.
  void Start(const PlannedAttempt& next, Instant now);
  Instant AttemptDeadline(Instant now) const;
  Instant ToldDeadline(Instant attempt_deadline) const;
  uint32_t AddRecord(const PlannedAttempt& next, Instant now);
  void SendBuffered(AttemptId id);
  void StartHedge(Instant now);

  // These concern the answer.
  bool MayHold() const;
  void BeginAnswer(AttemptId id, Instant now);
  void Commit(AttemptId id, Instant now);

  // These end one.
  AttemptEnds Ends() { return {books_, shadow_.get()}; }
  void RecordEnd(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now);
  void CloseRecord(const ActiveAttempt& attempt, const AttemptOutcome& outcome, Instant now);
  void NoteServiceTime(const ActiveAttempt& attempt, const AttemptOutcome& outcome);
  AttemptPlace Abandon(AttemptId id, StatusCode code, Instant now);
  void AbandonOthers(AttemptId kept, StatusCode code, Instant now) {
    while (const ActiveAttempt* const other = active_.FindOther(kept)) {
      Abandon(other->id, code, now);
    }
  }

  // These say what follows a failure (attempt_failure.cc).
  void OnTimeout(const ActiveAttempt& attempt, Instant now);
  void OnFailure(const ActiveAttempt& attempt, AttemptOutcome outcome, Instant now);
  void NoteFailure(const AttemptOutcome& outcome);
  void Follow(const ActiveAttempt& failed, AttemptOutcome outcome, const RetryDecision& decision,
              Instant now);
  void ActOnNext(NextAttempt::Step step, Instant now);
  void EndWait(Instant now);
  bool WaitForOthers(RefusalReason reason, Instant now);
  void CancelNext(WaitEnd end, Instant now) {
    hedge_at_ = Instant::Infinite();
    if (next_.scheduled()) DropNext(end, now);
  }
  void DropNext(WaitEnd end, Instant now);
  RetryFacts Facts(Instant now);
  bool EndsByAttemptTimeout(const ActiveAttempt& attempt, const AttemptOutcome& outcome,
                            Instant now) const;

  CallBooks& books_;
  Call& call_;
  ActiveAttempts active_;
  NextAttempt next_;
  Instant hedge_at_ = Instant::Infinite();  // when another attempt is started beside the others
  Backoff backoff_;
  std::unique_ptr<ShadowCall> shadow_;  // null: no policy decides beside, or no attempt yet
  FailedEndpoints failed_endpoints_;
  Instant first_failed_ = Instant::Infinite();  // the end of the first attempt that failed
  Instant answered_at_;                         // of answered_
  int made_ = 0;
  int unsent_ = 0;  // attempts that never left
  std::optional<StatusCode> application_said_;
  bool answered_ = false;  // the answer has begun to go to the caller
  bool committed_ = false;
  bool transparent_used_ = false;
  bool may_have_run_ = false;
  bool alone_ = false;
};

}  // namespace levee
