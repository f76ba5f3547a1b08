// SPDX-License-Identifier: Apache-2.0
#include "call/egress_entry.h"

#include <algorithm>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "call/call.h"
#include "call/first_message.h"

namespace levee {
namespace {

// How long a call waits for its first message, by which it is compared with calls that failed. A
// loop sends it with the head or right after it.
constexpr absl::Duration kMessageWait = absl::Milliseconds(100);

}  // namespace

// Admits the call as a retry of the application's own or as a first attempt. Inlined since Start is
// on the path of every call.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool EgressEntry::Admit(Instant now) {
  const CallPlanParts& plan = books_.plan;
  stage_ = Stage::kPassed;
  if (plan.admission != nullptr) return AskSource(now);
  if (is_app_retry() && !AdmitAppRetry(now)) return false;
  if (plan.rate_limits.empty()) return true;
  return AdmitByRate(AdmitCall(plan.rate_limits, books_.rate_keys, now, books_.deadline - now),
                     now);
}

bool EgressEntry::Start(Instant now) {
  if (books_.plan.throttle != nullptr && !PassThrottle(now)) return false;
  if (books_.plan.failed_calls.empty() || !FindKin(now)) return Admit(now);
  WaitUntil(Stage::kAwaitsMessage, now + kMessageWait);
  return false;
}

// `due`: Infinite in kAwaitsAnswer, which the source bounds.
void EgressEntry::WaitUntil(Stage stage, Instant due) {
  LEVEE_DCHECK((stage == Stage::kAwaitsAnswer) == due.is_infinite());
  stage_ = stage;
  due_ = due;
  call_.WakeBy(due_);
}

void EgressEntry::OnDue(Instant now) {
  LEVEE_DCHECK(awaits_message() || stage_ == Stage::kAwaitsPermit);
  if (awaits_message()) {
    LookAtMessage(now);
    return;
  }
  due_ = Instant::Infinite();
  stage_ = Stage::kPassed;
  call_.Begin(now);
}

// False if the call is rejected, and finished: before it could take a permit, or charge the budget.
bool EgressEntry::PassThrottle(Instant now) {
  const ThrottleDecision decision =
      books_.plan.throttle->Decide(books_.plan.worker, books_.plan.random, now);
  books_.record.throttle = decision;
  if (decision != ThrottleDecision::kRejected) return true;
  call_.EndRefused(
      RefusalReason::kThrottle,
      "overloaded, do not retry: the upstream is overloaded, and this call was not sent", now);
  return false;
}

// Whether the call has to wait for its first message, since calls of its kin have failed.
bool EgressEntry::FindKin(Instant now) {
  if (books_.app_attempts != 0 || AppRetriesRule() == AppRetries::kIgnore) return false;
  const CallKin kin = books_.host.Kin();
  if (!books_.plan.failed_calls.MayHave(kin, now)) return false;
  like_failed_.reset(new LikeFailed{.kin = kin});
  return true;
}

// The call waits for its first message, and more of it may have come.
void EgressEntry::LookAtMessage(Instant now) {
  LikeFailed& like = *like_failed_;
  like.message = ReadFirstMessage(books_.body.chunks(), books_.body.half_closed());
  if (!like.message.has_value() && now < due_) return;
  due_ = Instant::Infinite();
  if (like.message.has_value()) {
    like.likeness = books_.plan.failed_calls.Find(like.kin, *like.message, now);
  }
  if (Admit(now)) call_.Begin(now);
}

// A loop is no surer sign than the header, so it is treated no harder.
AppRetries EgressEntry::AppRetriesRule() const {
  // A call to the application is no retry of the application's own.
  if (books_.plan.inbound) return AppRetries::kIgnore;
  const RetryPolicy& retry = books_.plan.policy.retry;
  if (books_.app_attempts != 0) return retry.app_retries;
  return std::max(retry.app_retries, retry.app_retries_loops);
}

// A retry of the application's own. False if it is refused, and the call finished: before it could
// wait for a rate limit, or take from the calls that are no retries.
bool EgressEntry::AdmitAppRetry(Instant now) {
  if (AppRetriesRule() == AppRetries::kIgnore) return true;
  const RateAdmission admission =
      CheckCall(books_.plan.rate_limits, books_.rate_keys, now, books_.deadline - now);
  if (admission.refused_by != RateAdmission::kNone) {
    EndRateLimited(admission, now);
    return false;
  }
  return ChargeAppRetry(now);
}

// As AdmitAppRetry, after the rate limits.
bool EgressEntry::ChargeAppRetry(Instant now) {
  const AppRetries rule = AppRetriesRule();
  if (rule == AppRetries::kIgnore) return true;
  books_.record.app_retry = books_.app_attempts != 0 ? AppRetrySign::kHeader : AppRetrySign::kLoop;
  charged_ = books_.plan.budget.Withdraw(books_.plan.worker, now);
  if (charged_ || rule == AppRetries::kCount || books_.Observes()) return true;
  if (IsRepeated()) {
    books_.plan.failed_calls.OnRefused(like_failed_->kin, *like_failed_->message, now);
  }
  books_.record.app_retry_refused = true;
  call_.EndRefused(RefusalReason::kBudget,
                   "overloaded, do not retry: the application's own retry is over the retry budget",
                   now);
  return false;
}

bool EgressEntry::AskSource(Instant now) {
  permit_unsettled_ = true;
  const AdmissionQuestion question = {
      .limits = books_.plan.rate_limits, .keys = books_.rate_keys, .deadline = books_.deadline};
  const std::optional<RateAdmission> answer = books_.plan.admission->Ask(call_, question, now);
  if (answer.has_value()) return ActOn(*answer, now);
  WaitUntil(Stage::kAwaitsAnswer, Instant::Infinite());
  return false;
}

void EgressEntry::OnAdmission(const RateAdmission& answer, Instant now) {
  if (books_.finished || stage_ != Stage::kAwaitsAnswer) {
    books_.host.OnBroken("an admission came to a call that awaits none");
    return;
  }
  stage_ = Stage::kPassed;
  if (ActOn(answer, now)) call_.Begin(now);
}

bool EgressEntry::ActOn(const RateAdmission& answer, Instant now) {
  permit_unsettled_ = answer.refused_by == RateAdmission::kNone;
  if (now >= books_.deadline) {
    call_.EndAtDeadline(now);
    return false;
  }
  if (permit_unsettled_ && is_app_retry() && !ChargeAppRetry(now)) return false;
  return AdmitByRate(answer, now);
}

bool EgressEntry::AdmitByRate(const RateAdmission& admission, Instant now) {
  if (admission.refused_by != RateAdmission::kNone) {
    EndRateLimited(admission, now);
    return false;
  }
  books_.record.rate_limit = {.checked = true,
                              .delayed_by = admission.delayed_by,
                              .shared_bucket = admission.shared_bucket};
  if (admission.wait <= absl::ZeroDuration()) return true;
  WaitUntil(Stage::kAwaitsPermit, now + admission.wait);
  return false;
}

void EgressEntry::EndRateLimited(const RateAdmission& admission, Instant now) {
  books_.record.rate_limit = {.checked = true,
                              .refused_by = admission.refused_by,
                              .shared_bucket = admission.shared_bucket};
  const RateLimitPolicy& limit =
      books_.plan.rate_limits[static_cast<size_t>(admission.refused_by)]->policy();
  call_.Finish({.code = StatusCode::kResourceExhausted,
                .message = absl::StrCat("rate limit \"", limit.name, "\" of policy \"",
                                        books_.plan.policy.name, "\" reached"),
                .pushback = admission.wait},
               now);
}

void EgressEntry::RememberFailure(StatusCode code, bool marked, const Attempts& attempts,
                                  Instant now) {
  if (AppRetriesRule() == AppRetries::kIgnore) return;
  FailedCalls& failed_calls = books_.plan.failed_calls;
  const bool failed = marked || kLoopCodes.Has(code) || books_.plan.policy.retry.codes.Has(code);
  if (!failed) {
    if (IsRepeated()) failed_calls.OnAnswered(like_failed_->kin, *like_failed_->message);
    return;
  }
  std::optional<FirstMessage> message;
  if (like_failed_ != nullptr) message = like_failed_->message;
  if (!message.has_value() && !attempts.committed() && attempts.made() > 0) {
    message = ReadFirstMessage(books_.body.chunks(), books_.body.half_closed());
  }
  // The beginning of the request is not kept any more, or has not come.
  if (!message.has_value()) return;
  const CallKin kin = like_failed_ != nullptr ? like_failed_->kin : books_.host.Kin();
  books_.record.failed_calls_full = !failed_calls.OnFailed(kin, *message, books_.record.start, now);
}

void EgressEntry::OnOk(Instant now) {
  FailedCalls& failed_calls = books_.plan.failed_calls;
  if (failed_calls.empty()) return;
  failed_calls.OnSuccess(now);
  if (IsRepeated()) failed_calls.OnAnswered(like_failed_->kin, *like_failed_->message);
}

void EgressEntry::Withdraw() {
  if (std::exchange(permit_unsettled_, false)) books_.plan.admission->Withdraw(call_);
}

}  // namespace levee
