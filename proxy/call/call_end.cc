// SPDX-License-Identifier: Apache-2.0
// How a call ends.
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
void Call::OnDrainTimeout(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (books_.finished) return;
  if (attempts_.scheduled()) books_.record.refused = RefusalReason::kDraining;
  EndLocally(StatusCode::kUnavailable, "the sidecar is shutting down", now);
}

void Call::OnApplicationGone(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (books_.finished || attempts_.made() > 0) return;
  EndLocally(StatusCode::kUnavailable, "the application takes no connections", now);
}

void Call::OnBroken(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!books_.finished) EndLocally(StatusCode::kInternal, kBroken, now);
}

void Call::OnInVain(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!books_.finished) EndInVain(now);
}

void Call::EndInVain(Instant now) {
  EndLocally(StatusCode::kCancelled,
             "the caller of the call that this one is made for has gone (tie)", now);
}

void Call::OnOutOfMemory(Instant now) {
  const OneEvent event(&books_.parts.replay);
  if (!books_.finished) EndLocally(StatusCode::kUnavailable, kOutOfMemory, now);
}

// What a call waits for that has made no attempt.
std::string_view Call::WhatWasAwaited() const {
  std::string_view key;
  if (inbound_ != nullptr) {
    if (inbound_->guard.has_place()) return "the service had room for the call";
    if (inbound_->guard.awaits_work()) return "the request had a message";
    key = inbound_->key.WhatIsAwaited();
  }
  return key.empty() ? "a rate limit admitted the call" : key;
}

void Call::EndAtDeadline(Instant now) {
  if (attempts_.alone() && now >= inbound_->key.ClaimEnd()) {
    EndAlone(now);
    return;
  }
  if (books_.signs.is_stream() && books_.deadline < books_.callers_deadline) {
    EndStream(StreamBound::kTimeout, now);
    return;
  }
  attempts_.OnDeadline(now);
  RememberFailure(StatusCode::kDeadlineExceeded, /*marked=*/false, now);
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
  const int endpoints = books_.parts.host.Endpoints();
  // A `connect` failure says that no endpoint of all could be reached.
  const int failed_endpoints =
      outcome.kind == AttemptOutcome::Kind::kConnect ? endpoints : attempts_.failed_endpoints();
  // A policy that only observes leaves callers what they would get without it.
  const ExhaustedMode mode =
      books_.Observes() ? ExhaustedMode::kKeep : books_.parts.policy.retry.exhausted;
  ExhaustionFacts facts = {.attempts = attempts_.made(),
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
               .attempts = attempts_.made(),
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
  marked.attempts = attempts_.made();
  marked.mark.reason = reason;
  marked.mark.upstream = books_.parts.upstream;
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
  if (!message.has_value() && !attempts_.committed() && attempts_.made() > 0) {
    message = ReadFirstMessage(books_.body.chunks(), books_.body.half_closed());
  }
  // The beginning of the request is not kept any more, or has not come.
  if (!message.has_value()) return;
  const CallKin kin = like_failed_ != nullptr ? like_failed_->kin : books_.parts.host.Kin();
  books_.record.failed_calls_full =
      !books_.parts.failed_calls.OnFailed(kin, *message, books_.record.start, now);
}

void Call::Finish(const FinalStatus& status, Instant now) {
  if (std::exchange(books_.finished, true)) {
    books_.parts.host.OnBroken("a call has ended twice");
    return;
  }
  if (std::exchange(admission_open_, false)) books_.parts.admission->Withdraw(*this);
  attempts_.Close(now);
  if (inbound_ != nullptr) {
    inbound_->key.Leave(status, attempts_, now);
    inbound_->guard.Leave(now);
  }
  if (books_.parts.retries != nullptr && books_.record.refused.has_value() &&
      WasWanted(*books_.record.refused)) {
    books_.parts.retries->AddRefused(now);
  }
  books_.body.Clear();
  books_.record.end = now;
  books_.record.kind = books_.signs.is_stream() ? CallKind::kStream : CallKind::kUnary;
  books_.record.code = attempts_.alone() ? StatusCode::kCancelled : status.code;
  if (status.code == StatusCode::kOk && !books_.parts.failed_calls.empty()) {
    books_.parts.failed_calls.OnSuccess(now);
    if (IsRepeated())
      books_.parts.failed_calls.OnAnswered(like_failed_->kin, *like_failed_->message);
  }
  books_.parts.host.SetTimer(Instant::Infinite());
  books_.parts.host.Finish(status, books_.record);
}

}  // namespace levee
