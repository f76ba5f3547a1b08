// SPDX-License-Identifier: Apache-2.0
// How a call ends.
#include <utility>

#include "absl/strings/str_cat.h"
#include "call/call.h"

namespace levee {

void Call::OnDrainTimeout(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (books_.finished) return;
  if (attempts_.scheduled()) books_.record.refused = RefusalReason::kDraining;
  EndLocally(StatusCode::kUnavailable, "the sidecar is shutting down", now);
}

void Call::OnApplicationGone(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (books_.finished || attempts_.made() > 0) return;
  EndLocally(StatusCode::kUnavailable, "the application takes no connections", now);
}

void Call::OnBroken(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (!books_.finished) EndLocally(StatusCode::kInternal, kBroken, now);
}

void Call::OnInVain(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (!books_.finished) EndInVain(now);
}

void Call::EndInVain(Instant now) {
  EndLocally(StatusCode::kCancelled, "the caller of the linked call has gone (tie)", now);
}

void Call::OnOutOfMemory(Instant now) {
  const OneEvent event(&books_.plan.replay);
  if (!books_.finished) EndLocally(StatusCode::kUnavailable, kOutOfMemory, now);
}

// Returns what a call waits for that has made no attempt.
std::string_view Call::WhatWasAwaited() const {
  if (guard_.has_place()) return "the service had room for the call";
  if (guard_.awaits_work()) return "the request had a message";
  const std::string_view key = key_ == nullptr ? "" : key_->WhatIsAwaited();
  return key.empty() ? "a rate limit admitted the call" : key;
}

void Call::EndAtDeadline(Instant now) {
  if (attempts_.alone() && now >= key_->ClaimEnd()) {
    EndAlone(now);
    return;
  }
  if (books_.signs.is_stream() && books_.deadline < books_.callers_deadline) {
    EndStream(StreamBound::kTimeout, now);
    return;
  }
  attempts_.OnDeadline(now);
  entry_.RememberFailure(StatusCode::kDeadlineExceeded, /*marked=*/false, attempts_, now);
  const int made = attempts_.made();
  EndLocally(StatusCode::kDeadlineExceeded,
             made == 0 ? absl::StrCat("deadline exceeded before ", std::string(WhatWasAwaited()))
                       : absl::StrCat("deadline exceeded after ", made,
                                      made == 1 ? " attempt" : " attempts"),
             now);
}

void Call::EndExhausted(AttemptId id, const AttemptOutcome& outcome,
                        std::optional<RefusalReason> reason, Instant now, const WaitRecord* vain) {
  books_.record.refused = reason;
  const int endpoints = books_.host.Endpoints();
  // A `connect` failure says that no endpoint of all could be reached.
  const int failed_endpoints =
      outcome.kind == AttemptOutcome::Kind::kConnect ? endpoints : attempts_.failed_endpoints();
  // A policy that only observes leaves callers what they would get without it.
  const ExhaustedMode mode =
      books_.Observes() ? ExhaustedMode::kKeep : books_.plan.policy.retry.exhausted;
  ExhaustionFacts facts = {.attempts = attempts_.made(),
                           .failed_endpoints = std::max(1, failed_endpoints),
                           .endpoints = endpoints,
                           .upstream = books_.plan.upstream};
  std::string endpoint;
  if (vain != nullptr) {
    const int64_t place = outcome.place.endpoint;
    if (place >= 0) endpoint = books_.host.EndpointName(place);
    facts.wait = {
        .waited = vain->waited, .bounded = vain->end == WaitEnd::kDeadline, .endpoint = endpoint};
  }
  FinalAnswer answer = AnswerWhenExhausted(mode, books_.plan.overload, outcome, reason, facts);
  entry_.RememberFailure(outcome.code, answer.marked, attempts_, now);
  if (answer.marked) {
    EndMarked(id,
              {.code = answer.code,
               .message = std::move(answer.message),
               .original_code = outcome.code,
               .attempts = attempts_.made(),
               .mark = std::move(answer.mark)},
              now);
  } else if (outcome.kind == AttemptOutcome::Kind::kStatus) {
    EndForwarding(id, outcome.code, now);
  } else {
    EndLocally(outcome.code, outcome.message, now);
  }
}

void Call::EndRefused(RefusalReason reason, std::string message, Instant now) {
  books_.record.refused = reason;
  MarkedStatus marked;
  marked.message = std::move(message);
  EndUnsent(marked, RefusalReasonName(reason), now);
}

void Call::EndUnsent(MarkedStatus& marked, std::string_view reason, Instant now) {
  marked.code = marked.original_code = books_.plan.overload.status;
  marked.attempts = attempts_.made();
  marked.mark.reason = reason;
  marked.mark.upstream = books_.plan.upstream;
  EndMarked(/*id=*/0, marked, now);
}

void Call::EndMarked(AttemptId id, const MarkedStatus& marked, Instant now) {
  books_.record.mark_sent = marked.mark.scope;
  Finish({.code = marked.code, .attempt = id, .message = marked.message, .marked = &marked}, now);
}

void Call::EndForwarding(AttemptId id, StatusCode code, Instant now) {
  attempts_.CommitToAnswer(id, now);
  Finish({.code = code, .attempt = id, .forward_trailers = true}, now);
}

void Call::EndLocally(StatusCode code, std::string_view message, Instant now) {
  Finish({.code = code, .message = message}, now);
}

void Call::Finish(const FinalStatus& status, Instant now) {
  if (std::exchange(books_.finished, true)) {
    books_.host.OnBroken("a call has ended twice");
    return;
  }
  entry_.Withdraw();
  attempts_.Close(now);
  if (keyed()) key_->Leave(status, attempts_, now);
  guard_.Leave(now);
  if (books_.plan.retries != nullptr && books_.record.refused.has_value() &&
      WasWanted(*books_.record.refused)) {
    books_.plan.retries->AddRefused(now);
  }
  books_.body.Clear();
  books_.record.end = now;
  books_.record.kind = books_.signs.is_stream() ? CallKind::kStream : CallKind::kUnary;
  books_.record.code = attempts_.alone() ? StatusCode::kCancelled : status.code;
  if (status.code == StatusCode::kOk) entry_.OnOk(now);
  books_.host.SetTimer(Instant::Infinite());
  books_.host.Finish(status, books_.record);
}

}  // namespace levee
