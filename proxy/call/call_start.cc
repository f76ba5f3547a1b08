// SPDX-License-Identifier: Apache-2.0
// How a call begins: its deadline, and whether it is admitted.
#include <algorithm>
#include <optional>

#include "absl/base/attributes.h"
#include "base/check.h"
#include "call/call.h"
#include "call/first_message.h"

namespace levee {
namespace {

// How long before its deadline, as seen here, a caller that leaves does so because of it. The
// caller's clock started earlier than this one, by the request's way here, and its reset takes as
// long; what differs is what delays the one and not the other (a busy CPU, a full queue): up to a
// fifth of the timeout, but no more than 20 ms. The hundredth is for callers that round the timeout
// they send up: gRPC's core does, to two or three digits.
absl::Duration DeadlineTolerance(absl::Duration timeout) {
  const absl::Duration delay =
      timeout < absl::Milliseconds(100) ? timeout / 5 : absl::Milliseconds(20);
  return delay + timeout / 100;
}

// The share of answers that are the fastest ones. A call that has more time than kEnough may still
// have luck: an answer can come sooner than all others, and a failure mostly does.
constexpr double kFastest = 0.01;
constexpr absl::Duration kEnough = absl::Milliseconds(50);

// How long a call waits for its first message, by which it is compared with calls that failed. A
// loop sends it with the head or right after it.
constexpr absl::Duration kMessageWait = absl::Milliseconds(100);

}  // namespace

// Admits the call as a retry of the application's own or as a first attempt, and begins it. Inlined
// since Start is on the path of every call.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void Call::Admit(Instant now) {
  if (books_.parts.admission != nullptr) {
    AskAdmission(now);
  } else if (IsAppRetry() && !AdmitAppRetry(now)) {
    return;
  } else if (books_.parts.rate_limits.empty()) {
    Begin(now);
  } else {
    AdmitByRate(AdmitCall(books_.parts.rate_limits, books_.rate_keys, now, books_.deadline - now),
                now);
  }
}

void Call::Start(const RequestFacts& facts, Instant now) {
  const OneEvent event(&books_.parts.replay);
  books_.record.start = now;
  // Far above any real count, and the sum with our own attempts stays a number.
  constexpr int kMaxAppAttempts = 1'000'000;
  books_.app_attempts = std::clamp(facts.previous_attempts, 0, kMaxAppAttempts);
  const absl::Duration bound =
      books_.signs.is_stream() ? books_.parts.policy.stream.timeout : books_.parts.policy.timeout;
  const absl::Duration timeout = std::min(facts.timeout, bound);
  books_.deadline = now + timeout;
  if (facts.timeout < absl::InfiniteDuration()) {
    books_.callers_deadline = now + facts.timeout;
    books_.callers_leave_from = now + (facts.timeout - DeadlineTolerance(facts.timeout));
  }
  books_.rate_keys = facts.rate_keys;
  books_.priority = facts.priority;
  books_.user = facts.user;
  if (facts.in_vain) {
    EndInVain(now);
  } else if (timeout <= absl::ZeroDuration()) {
    EndLocally(StatusCode::kDeadlineExceeded, "deadline passed before the call arrived", now);
  } else if (books_.parts.dedupe != nullptr && !inbound_->key.Begin(facts, now)) {
    return;
  } else if (books_.parts.throttle != nullptr && !AdmitByThrottle(now)) {
    return;
  } else if (!books_.parts.failed_calls.empty() && FindKin(now)) {
    entry_at_ = now + kMessageWait;
    ArmTimer();
  } else {
    Admit(now);
  }
}

// Whether the call has to wait for its first message, since calls of its kin have failed.
bool Call::FindKin(Instant now) {
  if (books_.app_attempts != 0 || AppRetriesRule() == AppRetries::kIgnore) return false;
  const CallKin kin = books_.parts.host.Kin();
  if (!books_.parts.failed_calls.MayHave(kin, now)) return false;
  like_failed_.reset(new LikeFailed{.kin = kin});
  return true;
}

// The call waits for its first message, and more of it may have come.
void Call::LookAtMessage(Instant now) {
  LikeFailed& like = *like_failed_;
  like.message = ReadFirstMessage(books_.body.chunks(), books_.body.half_closed());
  if (!like.message.has_value() && now < entry_at_) return;
  like.waits = false;
  entry_at_ = Instant::Infinite();
  if (like.message.has_value()) {
    like.likeness = books_.parts.failed_calls.Find(like.kin, *like.message, now);
  }
  Admit(now);
}

bool Call::IsRepeated() const {
  return like_failed_ != nullptr && like_failed_->likeness == FailedCalls::Likeness::kRetry;
}

// False if the call is rejected, and finished: before it could take a permit, or charge the budget.
bool Call::AdmitByThrottle(Instant now) {
  books_.record.throttle =
      books_.parts.throttle->Decide(books_.parts.worker, books_.parts.random, now);
  if (books_.record.throttle != ThrottleDecision::kRejected) return true;
  EndRefused(RefusalReason::kThrottle,
             "overloaded, do not retry: the upstream is overloaded, and this call was not sent",
             now);
  return false;
}

// A loop is no surer sign than the header, so it is treated no harder.
AppRetries Call::AppRetriesRule() const {
  // A call to the application is no retry of the application's own.
  if (books_.parts.inbound) return AppRetries::kIgnore;
  const RetryPolicy& retry = books_.parts.policy.retry;
  if (books_.app_attempts != 0) return retry.app_retries;
  return std::max(retry.app_retries, retry.app_retries_loops);
}

// A retry of the application's own. False if it is refused, and the call finished: before it could
// wait for a rate limit, or take from the calls that are no retries.
bool Call::AdmitAppRetry(Instant now) {
  if (AppRetriesRule() == AppRetries::kIgnore) return true;
  const RateAdmission admission =
      CheckCall(books_.parts.rate_limits, books_.rate_keys, now, books_.deadline - now);
  if (admission.refused_by != RateAdmission::kNone) {
    EndRateLimited(admission, now);
    return false;
  }
  return ChargeAppRetry(now);
}

// As AdmitAppRetry, after the rate limits.
bool Call::ChargeAppRetry(Instant now) {
  const AppRetries rule = AppRetriesRule();
  if (rule == AppRetries::kIgnore) return true;
  books_.record.app_retry = books_.app_attempts != 0 ? AppRetrySign::kHeader : AppRetrySign::kLoop;
  app_retry_charged_ = books_.parts.budget.Withdraw(books_.parts.worker, now);
  if (app_retry_charged_ || rule == AppRetries::kCount || books_.Observes()) return true;
  if (IsRepeated())
    books_.parts.failed_calls.OnRefused(like_failed_->kin, *like_failed_->message, now);
  books_.record.app_retry_refused = true;
  EndRefused(RefusalReason::kBudget,
             "overloaded, do not retry: the application's own retry is over the retry budget", now);
  return false;
}

void Call::AskAdmission(Instant now) {
  admission_open_ = true;
  const AdmissionQuestion question = {
      .limits = books_.parts.rate_limits, .keys = books_.rate_keys, .deadline = books_.deadline};
  const std::optional<RateAdmission> answer = books_.parts.admission->Ask(*this, question, now);
  answer.has_value() ? ActOnAdmission(*answer, now) : ArmTimer();
}

void Call::OnAdmission(const RateAdmission& answer, Instant now) {
  const OneEvent event(&books_.parts.replay);
  ActOnAdmission(answer, now);
}

void Call::ActOnAdmission(const RateAdmission& answer, Instant now) {
  if (books_.finished || !admission_open_) {
    books_.parts.host.OnBroken("an admission came to a call that awaits none");
    return;
  }
  admission_open_ = answer.refused_by == RateAdmission::kNone;
  if (now >= books_.deadline) {
    EndAtDeadline(now);
  } else if (!admission_open_ || !IsAppRetry() || ChargeAppRetry(now)) {
    AdmitByRate(answer, now);
  }
}

// Begins the call, lets it wait for its permit, or finishes it.
void Call::AdmitByRate(const RateAdmission& admission, Instant now) {
  if (admission.refused_by != RateAdmission::kNone) {
    EndRateLimited(admission, now);
    return;
  }
  books_.record.rate_limit = {.checked = true,
                              .delayed_by = admission.delayed_by,
                              .shared_bucket = admission.shared_bucket};
  if (admission.wait <= absl::ZeroDuration()) {
    Begin(now);
    return;
  }
  entry_at_ = now + admission.wait;
  ArmTimer();
}

// The least time in which an attempt can be answered, at most kEnough.
absl::Duration Call::LeastTime(Instant now) {
  if (!books_.parts.policy.retry.min_remaining || books_.Observes()) return kLeastTimeout;
  const auto fastest = books_.parts.latency.Quantile(kFastest, now);
  // A quantile is up to an eighth too high.
  return std::clamp(fastest.value_or(absl::ZeroDuration()) * 8 / 9, kLeastTimeout, kEnough);
}

void Call::Begin(Instant now) {
  const absl::Duration left = books_.deadline - now;
  // Most have so much time that no latency needs to be known.
  if (left < kEnough && left < LeastTime(now)) {
    EndLocally(StatusCode::kDeadlineExceeded, "less time is left than any answer takes", now);
    return;
  }
  if (inbound_ != nullptr && !inbound_->key.Enter(now)) return;
  if (books_.parts.guard == nullptr) {
    StartFirstAttempt(now);
  } else {
    inbound_->guard.Enter(now);
  }
}

void Call::StartFirstAttempt(Instant now) {
  admission_open_ = false;
  // A retry, whoever makes it, pays for no others.
  attempts_.StartFirst(/*price=*/app_retry_charged_ ? 1 : 0, /*pays=*/!IsAppRetry(), now);
}

}  // namespace levee
