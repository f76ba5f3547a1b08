// SPDX-License-Identifier: Apache-2.0
// What follows a failed attempt, and how a call ends.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/about_deadline.h"
#include "base/check.h"
#include "call/call.h"
#include "call/first_message.h"
#include "call/outcome.h"

namespace levee {
namespace {

// An attempt that never left costs nothing, so something must end them: after this many in one call
// the failure counts as `connect`.
constexpr int kMaxUnsentAttempts = 5;

// Two attempts of a hedged call may end on one endpoint.
void AddOnce(int64_t endpoint, absl::InlinedVector<int64_t, 2>& endpoints) {
  if (absl::c_find(endpoints, endpoint) == endpoints.end()) endpoints.push_back(endpoint);
}

}  // namespace

RetryFacts Call::Facts(Instant now) {
  RetryFacts facts;
  facts.attempts = attempts_;
  facts.answered = answered_;
  facts.transparent_used = transparent_used_;
  facts.replayable = books_.body.replayable();
  facts.idempotent = books_.parts.idempotent;
  facts.deadline = books_.deadline;
  facts.first_start = books_.record.attempts.front().start;
  facts.inbound = books_.parts.inbound;
  facts.may_wait = books_.parts.waiting != nullptr && !books_.parts.inbound && !next_.scheduled();
  facts.first_failed = first_failed_;
  facts.timeouts =
      static_cast<int>(absl::c_count_if(books_.record.attempts, [](const AttemptRecord& attempt) {
        return attempt.trigger == RetryTrigger::kTimeout;
      }));
  if (!books_.deadline.is_infinite()) {
    facts.expected = books_.parts.latency.Quantile(0.5, now).value_or(absl::ZeroDuration());
  }
  return facts;
}

void Call::RememberEndpoint(const AttemptOutcome& outcome) {
  const int64_t endpoint = outcome.place.endpoint;
  if (endpoint < 0) return;
  AddOnce(endpoint, failed_endpoints_);
  if (outcome.mark.has_value() && outcome.mark->scope == OverloadScope::kEndpoint) {
    AddOnce(endpoint, forbidden_endpoints_);
  }
}

void Call::HandleFailure(const ActiveAttempt& attempt, AttemptOutcome outcome, Instant now) {
  if (outcome.kind == AttemptOutcome::Kind::kUnsent && ++unsent_ > kMaxUnsentAttempts) {
    outcome.kind = AttemptOutcome::Kind::kConnect;
  }
  // An upstream that has begun to answer has processed something, whatever its error code says.
  if (outcome.kind == AttemptOutcome::Kind::kRefused && attempt.has_head) {
    outcome.kind = AttemptOutcome::Kind::kReset;
  }
  RememberEndpoint(outcome);
  NoteFailure(outcome);
  // A stream that never left was no attempt: sent again, it leaves no record and costs nothing.
  const bool unsent = outcome.kind == AttemptOutcome::Kind::kUnsent;
  if (!unsent) RecordAttemptEnd(attempt, outcome, now);
  if (outcome.kind == AttemptOutcome::Kind::kStatus) NoteServiceTime(attempt, outcome, now);
  if (!unsent) first_failed_ = std::min(first_failed_, now);
  RetryFacts facts = Facts(now);
  if (outcome.kind == AttemptOutcome::Kind::kTimeout) ++facts.timeouts;
  if (shadow_ != nullptr && !next_.scheduled()) {
    const bool newest = attempt.record + 1 == books_.record.attempts.size();
    shadow_->OnFailure(outcome, newest, facts, now);
  }
  if (alone_) {
    // The caller repeats the call by itself.
    if (unsent) RecordAttemptEnd(attempt, outcome, now);
    if (active_.empty()) EndExhausted(attempt.id, outcome, std::nullopt, now);
    return;
  }
  // One that is to start is the next attempt; a second one would be one too many at a time.
  if (next_.scheduled()) facts.attempts = books_.parts.policy.retry.max_attempts;
  const RetryDecision decision =
      DecideRetry(books_.parts.policy, outcome, facts, now, books_.parts.random, backoff_,
                  books_.parts.budget, books_.parts.worker);
  const bool waits = decision.action == RetryDecision::Action::kWait;
  if (waits || decision.action == RetryDecision::Action::kRetry) {
    transparent_used_ = transparent_used_ || (decision.transparent && !unsent);
    PlannedAttempt next = {.trigger = decision.trigger,
                           .after = outcome.code,
                           .delay = decision.delay,
                           .backed_off = decision.backed_off,
                           .transparent = decision.transparent,
                           .price = decision.price};
    if (unsent) next = {.price = attempt.price, .record = attempt.record};
    if (decision.transparent) next.number = attempt.number;
    if (waits) {
      hedge_at_ = Instant::Infinite();
      next_.ScheduleUnpaid(
          next,
          std::unique_ptr<UnpaidRetry>(new UnpaidRetry{
              .place{*books_.parts.waiting, *this, facts.first_failed, now, decision.wait_until},
              .bounded = decision.wait_bounded,
              .failed = attempt.id,
              .outcome = std::move(outcome)}),
          now);
      if (now >= next_.due()) ActOnNext(next_.OnDue(now), now);
      if (!finished_) ArmTimer();
    } else {
      ScheduleRetry(next, now);
    }
    return;
  }
  if (unsent) RecordAttemptEnd(attempt, outcome, now);
  const bool refused = decision.action == RetryDecision::Action::kRefused;
  if (refused && WaitForOthers(decision.reason, now)) {
    next_.ReplaceFailure(attempt.id, std::move(outcome));
    return;
  }
  EndExhausted(attempt.id, outcome, refused ? std::optional(decision.reason) : std::nullopt, now);
}

void Call::ScheduleRetry(const PlannedAttempt& next, Instant now) {
  if (next.delay <= absl::ZeroDuration()) {
    StartAttempt(next, now);
    return;
  }
  // The server's wait (or the backoff) holds for hedges as well.
  hedge_at_ = Instant::Infinite();
  next_.Schedule(next, now);
  ArmTimer();
}

void Call::CancelRetry(Instant now, WaitEnd end) {
  if (shadow_ != nullptr && next_.scheduled()) shadow_->OnDropped();
  next_.Cancel(end, now);
  hedge_at_ = Instant::Infinite();
}

// Whether the call goes on although this attempt is not followed by another: it is hedged.
bool Call::WaitForOthers(RefusalReason reason, Instant now) {
  const bool stopped = reason == RefusalReason::kPushback || reason == RefusalReason::kOverloadMark;
  if (stopped) CancelRetry(now);
  if (active_.empty() && !next_.scheduled()) return false;
  if (!next_.scheduled()) {
    books_.record.refused = reason;
    hedge_at_ = Instant::Infinite();
  }
  ArmTimer();
  return true;
}

void Call::OnAttemptTimeout(const ActiveAttempt& late, Instant now) {
  const ActiveAttempt attempt = late;
  AttemptOutcome outcome;
  outcome.place = Abandon(attempt.id, StatusCode::kDeadlineExceeded, now);
  if (outcome.place.endpoint >= 0) {
    outcome = OutcomeOfAttemptTimeout(outcome.place);
  } else {
    // It was still waiting for a connection, so nothing can have been processed.
    outcome.kind = AttemptOutcome::Kind::kConnect;
    outcome.code = StatusCode::kUnavailable;
    outcome.message = "attempt_timeout passed before a connection was ready";
  }
  HandleFailure(attempt, std::move(outcome), now);
}

void Call::OnDrainTimeout(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_) return;
  if (next_.scheduled()) books_.record.refused = RefusalReason::kDraining;
  EndLocally(StatusCode::kUnavailable, "the sidecar is shutting down", now);
}

void Call::OnApplicationGone(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (finished_ || attempts_ > 0) return;
  EndLocally(StatusCode::kUnavailable, "the application takes no connections", now);
}

void Call::OnBroken(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!finished_) EndLocally(StatusCode::kInternal, kBroken, now);
}

void Call::OnInVain(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!finished_) EndInVain(now);
}

void Call::EndInVain(Instant now) {
  EndLocally(StatusCode::kCancelled,
             "the caller of the call that this one is made for has gone (tie)", now);
}

void Call::OnOutOfMemory(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!finished_) EndLocally(StatusCode::kUnavailable, kOutOfMemory, now);
}

// Why the call has made no attempt by its deadline.
std::string_view Call::WhatWasAwaited() const {
  if (guard_place_ != nullptr) return "deadline exceeded before the service had room for the call";
  if (awaits_work_) return "deadline exceeded before the request had a message";
  if (keyed_ != nullptr && keyed_->waits) {
    return "deadline exceeded before the first call with the idempotency key was answered";
  }
  if (keyed_ != nullptr && keyed_->needs_request) {
    return "deadline exceeded before the request was complete";
  }
  if (keyed_ != nullptr && keyed_->asks_store) {
    return "deadline exceeded before the store of idempotency keys answered";
  }
  return "deadline exceeded before a rate limit admitted the call";
}

void Call::EndAtDeadline(Instant now) {
  if (alone_ && now >= ClaimEnd()) {
    EndAlone(now);
    return;
  }
  if (books_.signs.is_stream() && books_.deadline < books_.callers_deadline) {
    EndStream(StreamBound::kTimeout, now);
    return;
  }
  if (next_.in_line()) {
    // The caller, whose clock is ahead, has left a moment before the wait would have ended.
    books_.record.refused = RefusalReason::kBudget;
    CancelRetry(now, WaitEnd::kDeadline);
  }
  while (!active_.empty()) {
    const ActiveAttempt attempt = active_.oldest();
    if (!books_.signs.is_stream()) {
      served_in_ = {.took = now - books_.record.attempts[attempt.record].start, .cut = true};
    }
    const AttemptPlace place = Abandon(attempt.id, StatusCode::kDeadlineExceeded, now);
    // An upstream that lets calls run into their deadline is no healthier than one that fails; one
    // that answers for as long as the caller listens is, and a stream may be quiet.
    if (attempt.has_head || books_.signs.is_stream() || place.endpoint < 0) continue;
    AttemptOutcome timed_out;
    timed_out.kind = AttemptOutcome::Kind::kTimeout;
    timed_out.code = StatusCode::kDeadlineExceeded;
    timed_out.place = place;
    Ends().TellAtDeadline(attempt, timed_out, now);
  }
  RememberFailure(StatusCode::kDeadlineExceeded, /*marked=*/false, now);
  EndLocally(StatusCode::kDeadlineExceeded,
             attempts_ == 0 ? WhatWasAwaited()
                            : absl::StrCat("deadline exceeded after ", attempts_,
                                           attempts_ == 1 ? " attempt" : " attempts"),
             now);
}

// `vain`: the wait in vain with which the call ends; nullptr: it did not wait.
void Call::EndExhausted(AttemptId id, const AttemptOutcome& outcome,
                        std::optional<RefusalReason> reason, Instant now, const WaitRecord* vain) {
  books_.record.refused = reason;
  const int endpoints = books_.parts.host.Endpoints();
  // A `connect` failure says that no endpoint of all could be reached.
  const int failed_endpoints = outcome.kind == AttemptOutcome::Kind::kConnect
                                   ? endpoints
                                   : static_cast<int>(failed_endpoints_.size());
  // A policy that only observes leaves callers what they would get without it.
  const ExhaustedMode mode =
      books_.Observes() ? ExhaustedMode::kKeep : books_.parts.policy.retry.exhausted;
  ExhaustionFacts facts = {.attempts = attempts_,
                           .failed_endpoints = std::max(1, failed_endpoints),
                           .endpoints = endpoints,
                           .upstream = books_.parts.upstream};
  std::string endpoint;
  if (vain != nullptr) {
    const int64_t place = outcome.place.endpoint;
    if (place >= 0) endpoint = books_.parts.host.EndpointName(place);
    facts.wait = {
        .waited = vain->waited, .bounded = vain->end == WaitEnd::kDeadline, .endpoint = endpoint};
  }
  FinalAnswer answer = AnswerWhenExhausted(mode, books_.parts.overload, outcome, reason, facts);
  RememberFailure(outcome.code, answer.marked, now);
  if (answer.marked) {
    EndMarked(id,
              {.code = answer.code,
               .message = std::move(answer.message),
               .original_code = outcome.code,
               .attempts = attempts_,
               .mark = std::move(answer.mark)},
              now);
  } else if (outcome.kind == AttemptOutcome::Kind::kStatus) {
    EndForwarding(id, outcome.code, now);
  } else {
    EndLocally(outcome.code, outcome.message, now);
  }
}

void Call::EndRateLimited(const RateAdmission& admission, Instant now) {
  books_.record.rate_limit = {.checked = true,
                              .refused_by = admission.refused_by,
                              .shared_bucket = admission.shared_bucket};
  const RateLimitPolicy& limit =
      books_.parts.rate_limits[static_cast<size_t>(admission.refused_by)]->policy();
  Finish({.code = StatusCode::kResourceExhausted,
          .message = absl::StrCat("rate limit \"", limit.name, "\" of policy \"",
                                  books_.parts.policy.name, "\" reached"),
          .pushback = admission.wait},
         now);
}

// Ends a call that is refused before its first attempt with the agreed answer.
void Call::EndRefused(RefusalReason reason, std::string message, Instant now) {
  books_.record.refused = reason;
  MarkedStatus marked;
  marked.message = std::move(message);
  EndUnsent(marked, RefusalReasonName(reason), now);
}

// Ends a call with a mark, without waiting for an answer: `marked` has its message and its scope.
void Call::EndUnsent(MarkedStatus& marked, std::string_view reason, Instant now) {
  marked.code = marked.original_code = books_.parts.overload.status;
  marked.attempts = attempts_;
  marked.mark.reason = reason;
  marked.mark.upstream = books_.parts.upstream;
  EndMarked(/*id=*/0, marked, now);
}

void Call::EndMarked(AttemptId id, const MarkedStatus& marked, Instant now) {
  books_.record.mark_sent = marked.mark.scope;
  Finish({.code = marked.code, .attempt = id, .message = marked.message, .marked = &marked}, now);
}

void Call::EndForwarding(AttemptId id, StatusCode code, Instant now) {
  CommitToAnswer(id, now);
  Finish({.code = code, .attempt = id, .forward_trailers = true}, now);
}

void Call::EndLocally(StatusCode code, std::string_view message, Instant now) {
  Finish({.code = code, .message = message}, now);
}

// The call ends after an attempt that failed, and is kept in mind for the application's retry of
// it, or it is a retry that was answered at last.
void Call::RememberFailure(StatusCode code, bool marked, Instant now) {
  if (AppRetriesRule() == AppRetries::kIgnore) return;
  const bool failed = marked || kLoopCodes.Has(code) || books_.parts.policy.retry.codes.Has(code);
  if (!failed) {
    if (IsRepeated())
      books_.parts.failed_calls.OnAnswered(like_failed_->kin, *like_failed_->message);
    return;
  }
  std::optional<FirstMessage> message;
  if (like_failed_ != nullptr) message = like_failed_->message;
  if (!message.has_value() && !committed_ && attempts_ > 0) {
    message = ReadFirstMessage(books_.body.chunks(), books_.body.half_closed());
  }
  // The beginning of the request is not kept any more, or has not come.
  if (!message.has_value()) return;
  const CallKin kin = like_failed_ != nullptr ? like_failed_->kin : books_.parts.host.Kin();
  books_.record.failed_calls_full =
      !books_.parts.failed_calls.OnFailed(kin, *message, books_.record.start, now);
}

void Call::Finish(const FinalStatus& status, Instant now) {
  if (std::exchange(finished_, true)) {
    books_.parts.host.OnBroken("a call has ended twice");
    return;
  }
  if (std::exchange(admission_open_, false)) books_.parts.admission->Withdraw(*this);
  CancelRetry(now);
  if (shadow_ != nullptr) books_.record.shadow = shadow_->End(Facts(now), now);
  AbandonOthers(/*kept=*/0, StatusCode::kCancelled, now);
  if (keyed_ != nullptr) LeaveKey(status, now);
  if (books_.parts.guard != nullptr) LeaveGuard(now);
  if (books_.parts.retries != nullptr && books_.record.refused.has_value() &&
      WasWanted(*books_.record.refused)) {
    books_.parts.retries->AddRefused(now);
  }
  books_.body.Clear();
  books_.record.end = now;
  books_.record.kind = books_.signs.is_stream() ? CallKind::kStream : CallKind::kUnary;
  books_.record.code = alone_ ? StatusCode::kCancelled : status.code;
  if (status.code == StatusCode::kOk && !books_.parts.failed_calls.empty()) {
    books_.parts.failed_calls.OnSuccess(now);
    if (IsRepeated())
      books_.parts.failed_calls.OnAnswered(like_failed_->kin, *like_failed_->message);
  }
  books_.parts.host.SetTimer(Instant::Infinite());
  books_.parts.host.Finish(status, books_.record);
}

}  // namespace levee
