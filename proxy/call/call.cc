#include "call/call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

// An attempt that never left costs nothing, so something must end a row of them: after this many
// the failure counts as `connect`.
constexpr int kMaxUnsentAttempts = 5;

}  // namespace

Call::Call(const CallParts& parts)
    : parts_(parts),
      buffer_(parts_.policy.retry.buffer_bytes, parts_.replay) {}

void Call::Start(const RequestFacts& facts, Instant now) {
  record_.start = now;
  // Far above any real count, and the sum with our own attempts stays a number.
  constexpr int kMaxAppAttempts = 1'000'000;
  app_attempts_ = std::clamp(facts.previous_attempts, 0, kMaxAppAttempts);
  const absl::Duration timeout = std::min(facts.timeout, parts_.policy.timeout);
  deadline_ = now + timeout;
  if (timeout <= absl::ZeroDuration()) {
    EndLocally(StatusCode::kDeadlineExceeded, "deadline passed before the call arrived", now);
    return;
  }
  if (app_attempts_ == 0) {
    parts_.budget.Deposit(parts_.worker, now);
    StartAttempt(now);
    return;
  }
  // A retry, whoever makes it, pays for no others.
  if (parts_.policy.retry.app_retries == AppRetries::kIgnore) {
    StartAttempt(now);
    return;
  }
  record_.app_retry = true;
  charged_ = parts_.budget.Withdraw(parts_.worker, now);
  if (charged_ || parts_.policy.retry.app_retries == AppRetries::kCount) {
    StartAttempt(now);
    return;
  }
  record_.app_retry_refused = true;
  record_.refused = RefusalReason::kBudget;
  MarkedStatus marked;
  marked.code = marked.original_code = parts_.overload.status;
  marked.attempts = 0;
  marked.message = "overloaded, do not retry: the application's own retry is over the retry budget";
  marked.mark.reason = RefusalReasonName(RefusalReason::kBudget);
  marked.mark.upstream = parts_.upstream;
  EndMarked(marked, now);
}

void Call::StartAttempt(Instant now) {
  if (!std::exchange(resend_, false)) {
    AttemptRecord& record = record_.attempts.emplace_back();
    record.start = now;
    if (retry_.has_value()) {
      record.transparent = retry_->transparent;
      record.trigger = retry_->trigger;
      record.after = last_code_;
      record.delay = retry_->delay;
      record.backed_off = retry_->backed_off;
    }
    // A transparent attempt repeats the one before it: same number on the wire, not counted again.
    if (!record.transparent) ++attempts_;
  }
  active_ = parts_.host.StartAttempt({.previous_attempts = app_attempts_ + attempts_ - 1,
                                      .timeout = deadline_ - now,
                                      .avoid = failed_endpoints_,
                                      .forbidden = forbidden_endpoints_});
  head_came_ = false;
  attempt_deadline_ = now + parts_.policy.retry.attempt_timeout;
  SendBuffered();
  if (!replayable_) Commit();
  ArmTimer();
}

void Call::SendBuffered() {
  const auto& chunks = buffer_.chunks();
  for (size_t i = 0; i < chunks.size(); ++i) {
    parts_.host.SendRequest(active_, chunks[i], half_closed_ && i + 1 == chunks.size());
  }
  if (chunks.empty() && half_closed_) parts_.host.SendRequest(active_, Chunk(), true);
}

void Call::Commit() {
  committed_ = true;
  hold_until_ = Instant::Infinite();
  buffer_.Clear();
  parts_.host.Commit(active_);
}

void Call::CommitToAnswer() {
  answered_ = true;
  // attempt_timeout bounds the wait for an answer, not the length of a stream.
  attempt_deadline_ = Instant::Infinite();
  if (!committed_) Commit();
}

void Call::OnRequest(const Chunk& chunk, bool end) {
  if (finished_) return;
  LEVEE_CHECK(!committed_);
  half_closed_ = half_closed_ || end;
  if (replayable_) {
    const ReplayBuffer::Kept kept = buffer_.Add(chunk);
    replayable_ = kept == ReplayBuffer::Kept::kYes;
    record_.replay_memory_full = kept == ReplayBuffer::Kept::kNoMemory;
  }
  if (replayable_) {
    if (!chunk.empty()) parts_.host.CreditRequest(chunk.size());
  } else if (active_ == 0) {
    // Between attempts: the next one carries it all and is committed as it starts.
    buffer_.AddPending(chunk);
  }
  if (active_ == 0) return;
  parts_.host.SendRequest(active_, chunk, end);
  if (!replayable_) Commit();
}

void Call::OnCallerGone(Instant now) {
  if (finished_) return;
  AbandonAttempt(StatusCode::kCancelled, now);
  Finish({.code = StatusCode::kCancelled, .message = "cancelled by the caller"}, now);
}

bool Call::MayHold() const {
  // A caller whose half is open may be waiting for the head before it sends more. The last
  // attempt's head is held as well: its failure is answered with a mark, unless the answer has
  // begun.
  const RetryPolicy& retry = parts_.policy.retry;
  return retry.commit == CommitMode::kAuto && half_closed_ && replayable_ &&
         retry.max_attempts > 1 && retry.hold > absl::ZeroDuration();
}

void Call::OnHead(AttemptId attempt, Instant now) {
  if (finished_ || attempt != active_) return;
  head_came_ = true;
  if (committed_ || !MayHold()) {
    CommitToAnswer();
    return;
  }
  hold_until_ = now + parts_.policy.retry.hold;
  ArmTimer();
}

void Call::OnMessage(AttemptId attempt) {
  if (finished_ || attempt != active_ || committed_) return;
  CommitToAnswer();
}

void Call::RecordAttemptEnd(const AttemptOutcome& outcome, Instant now) {
  AttemptRecord& record = record_.attempts.back();
  record.end = now;
  record.code = outcome.code;
  record.endpoint = outcome.place.endpoint;
  if (outcome.mark.has_value()) record.mark_received = outcome.mark->scope;
  // A status that the policy does not list is the application's answer. All else is an ill
  // upstream, also where the policy would not retry it.
  const bool answered =
      outcome.kind == AttemptOutcome::Kind::kStatus && !parts_.policy.retry.codes.Has(outcome.code);
  const bool success = outcome.code == StatusCode::kOk || (answered && !outcome.mark.has_value());
  parts_.budget.RecordEnd(success, charged_);
}

void Call::AvoidEndpoint(int64_t endpoint) {
  if (endpoint < 0) return;
  const auto end = failed_endpoints_.end();
  if (std::find(failed_endpoints_.begin(), end, endpoint) == end) {
    failed_endpoints_.push_back(endpoint);
  }
}

void Call::OnAttemptEnd(AttemptId attempt, const AttemptOutcome& outcome, Instant now) {
  if (finished_ || attempt != active_) return;
  if (outcome.code != StatusCode::kOk) {
    HandleFailure(outcome, now);
    return;
  }
  RecordAttemptEnd(outcome, now);
  EndForwarding(StatusCode::kOk, now);
}

void Call::HandleFailure(AttemptOutcome outcome, Instant now) {
  if (outcome.kind == AttemptOutcome::Kind::kUnsent && ++unsent_ > kMaxUnsentAttempts) {
    outcome.kind = AttemptOutcome::Kind::kConnect;
  }
  // An upstream that has begun to answer has processed something, whatever its error code says.
  if (outcome.kind == AttemptOutcome::Kind::kRefused && head_came_) {
    outcome.kind = AttemptOutcome::Kind::kReset;
  }
  last_code_ = outcome.code;
  AvoidEndpoint(outcome.place.endpoint);
  if (outcome.mark.has_value() && outcome.mark->scope == OverloadScope::kEndpoint) {
    forbidden_endpoints_.push_back(outcome.place.endpoint);
  }
  // What never left was no attempt: if it is sent again, it leaves no record and costs nothing.
  const bool unsent = outcome.kind == AttemptOutcome::Kind::kUnsent;
  if (!unsent) RecordAttemptEnd(outcome, now);
  const RetryFacts facts = {.attempts = attempts_,
                            .committed = answered_,
                            .transparent_used = transparent_used_,
                            .replayable = replayable_,
                            .idempotent = Idempotent(),
                            .deadline = deadline_};
  const RetryDecision decision = DecideRetry(parts_.policy, outcome, facts, now, parts_.random,
                                             backoff_, parts_.budget, parts_.worker);
  if (decision.action == RetryDecision::Action::kRetry) {
    resend_ = unsent;
    if (!unsent) charged_ = true;
    ScheduleRetry(decision, now);
    return;
  }
  if (unsent) RecordAttemptEnd(outcome, now);
  EndExhausted(outcome,
               decision.action == RetryDecision::Action::kRefused ? std::optional(decision.reason)
                                                                  : std::nullopt,
               now);
}

void Call::ScheduleRetry(const RetryDecision& decision, Instant now) {
  active_ = 0;
  attempt_deadline_ = hold_until_ = Instant::Infinite();
  retry_ = decision;
  transparent_used_ = transparent_used_ || (decision.transparent && !resend_);
  if (decision.delay <= absl::ZeroDuration()) {
    StartAttempt(now);
    return;
  }
  retry_at_ = now + decision.delay;
  ArmTimer();
}

void Call::EndExhausted(const AttemptOutcome& outcome, std::optional<RefusalReason> reason,
                        Instant now) {
  record_.refused = reason;
  // A `connect` failure says that no endpoint of all could be reached.
  const int failed_endpoints = outcome.kind == AttemptOutcome::Kind::kConnect
                                   ? parts_.endpoints
                                   : static_cast<int>(failed_endpoints_.size());
  const FinalAnswer answer =
      AnswerWhenExhausted(parts_.policy.retry.exhausted, parts_.overload, outcome, reason,
                          {.attempts = attempts_,
                           .failed_endpoints = std::max(1, failed_endpoints),
                           .endpoints = parts_.endpoints,
                           .upstream = std::string(parts_.upstream)});
  if (answer.marked) {
    EndMarked({.code = answer.code,
               .message = answer.message,
               .original_code = outcome.code,
               .attempts = attempts_,
               .mark = answer.mark},
              now);
  } else if (outcome.kind == AttemptOutcome::Kind::kStatus) {
    EndForwarding(outcome.code, now);
  } else {
    EndLocally(outcome.code, outcome.message, now);
  }
}

void Call::EndMarked(const MarkedStatus& marked, Instant now) {
  record_.mark_sent = marked.mark.scope;
  Finish({.code = marked.code, .message = marked.message, .marked = &marked}, now);
}

void Call::EndForwarding(StatusCode code, Instant now) {
  CommitToAnswer();
  Finish({.code = code, .forward_trailers = true}, now);
}

void Call::EndLocally(StatusCode code, std::string message, Instant now) {
  Finish({.code = code, .message = std::move(message)}, now);
}

void Call::Finish(const FinalStatus& status, Instant now) {
  LEVEE_CHECK(!finished_);
  finished_ = true;
  active_ = 0;
  buffer_.Clear();
  record_.end = now;
  record_.code = status.code;
  parts_.host.SetTimer(Instant::Infinite());
  parts_.host.Finish(status, record_);
}

AttemptPlace Call::AbandonAttempt(StatusCode code, Instant now) {
  if (active_ == 0) return {};
  const AttemptPlace place = parts_.host.CancelAttempt(active_);
  AttemptRecord& record = record_.attempts.back();
  record.end = now;
  record.code = code;
  record.endpoint = place.endpoint;
  return place;
}

void Call::OnTimer(Instant now) {
  if (finished_) return;
  if (now >= deadline_) {
    // An upstream that lets calls run into their deadline is no healthier than one that fails.
    if (active_ != 0) parts_.budget.RecordEnd(false, charged_);
    AbandonAttempt(StatusCode::kDeadlineExceeded, now);
    EndLocally(StatusCode::kDeadlineExceeded,
               absl::StrCat("deadline exceeded after ", attempts_,
                            attempts_ == 1 ? " attempt" : " attempts"),
               now);
    return;
  }
  if (now >= attempt_deadline_ && active_ != 0) {
    OnAttemptTimeout(now);
    return;
  }
  if (now >= retry_at_) {
    retry_at_ = Instant::Infinite();
    StartAttempt(now);
    return;
  }
  if (now >= hold_until_) CommitToAnswer();
  ArmTimer();
}

void Call::OnAttemptTimeout(Instant now) {
  attempt_deadline_ = Instant::Infinite();
  AttemptOutcome outcome;
  outcome.place = AbandonAttempt(StatusCode::kDeadlineExceeded, now);
  if (outcome.place.endpoint >= 0) {
    outcome.kind = AttemptOutcome::Kind::kTimeout;
    outcome.code = StatusCode::kDeadlineExceeded;
    outcome.message = "attempt_timeout passed";
  } else {
    // It was still waiting for a connection, so nothing can have been processed.
    outcome.kind = AttemptOutcome::Kind::kConnect;
    outcome.code = StatusCode::kUnavailable;
    outcome.message = "attempt_timeout passed before a connection was ready";
  }
  HandleFailure(std::move(outcome), now);
}

void Call::OnDrainTimeout(Instant now) {
  if (finished_) return;
  if (active_ == 0) record_.refused = RefusalReason::kDraining;
  AbandonAttempt(StatusCode::kCancelled, now);
  EndLocally(StatusCode::kUnavailable, "the sidecar is shutting down", now);
}

void Call::ArmTimer() {
  parts_.host.SetTimer(std::min({deadline_, attempt_deadline_, retry_at_, hold_until_}));
}

}  // namespace levee
