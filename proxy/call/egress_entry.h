// SPDX-License-Identifier: Apache-2.0
// Whether a call is admitted: throttle, retries of the application's own, rate limits.
#pragma once

#include <memory>
#include <optional>

#include "base/instant.h"
#include "call/attempts.h"
#include "call/call_books.h"
#include "policy/failed_calls.h"
#include "policy/rate_limiter.h"
#include "policy/retry_policy.h"
#include "wire/status.h"

namespace levee {

class Call;

// Of a call to an upstream. A call to the application passes it as well, and meets nothing of it
// but rate limits. One thread.
class EgressEntry {
 public:
  // Both outlive it. `call`: begins, or ends, when it is told to.
  EgressEntry(CallBooks& books, Call& call) : books_(books), call_(call) {}
  EgressEntry(const EgressEntry&) = delete;
  EgressEntry& operator=(const EgressEntry&) = delete;

  // The call comes. Returns whether it is admitted at once; likewise below. If not, it waits, and
  // is told later (Call::Begin), or it is finished.
  bool Start(Instant now);

  // Whether the call waits for its first message. OnRequest tells that more of it has come.
  bool awaits_message() const { return stage_ == Stage::kAwaitsMessage; }
  void OnRequest(Instant now) { LookAtMessage(now); }

  // As Call::OnAdmission.
  void OnAdmission(const RateAdmission& answer, Instant now);

  // The message should have come, or the rate limit's permit is due.
  void OnDue(Instant now);
  Instant due() const { return due_; }

  // The call's first attempt starts: what it was admitted with is used.
  void OnFirstAttempt() { permit_unsettled_ = false; }

  // Whether the call is a retry of the application's own, and what was paid for it from the budget.
  bool is_app_retry() const { return books_.app_attempts != 0 || IsRepeated(); }
  int price() const { return charged_ ? 1 : 0; }

  // The call ends after an attempt that failed, and is kept in mind for the application's retry of
  // it, or it is a retry that was answered at last. `marked`: the caller gets a mark.
  void RememberFailure(StatusCode code, bool marked, const Attempts& attempts, Instant now);

  // The call has ended: the application's retries of it are no loop if it was answered.
  void OnOk(Instant now);

  // The call ends: a permit that was not used goes back.
  void Withdraw();

 private:
  enum class Stage : uint8_t {
    kOutside,
    kAwaitsMessage,
    kAwaitsAnswer,  // of the AdmissionSource
    kAwaitsPermit,  // which is due later
    kPassed,
  };

  // A call of the kin of one that failed.
  struct LikeFailed {
    CallKin kin;
    std::optional<FirstMessage> message;  // none: the call waits for it, or did so in vain
    FailedCalls::Likeness likeness = FailedCalls::Likeness::kNone;
  };

  void WaitUntil(Stage stage, Instant due);
  bool PassThrottle(Instant now);
  bool FindKin(Instant now);
  void LookAtMessage(Instant now);
  bool Admit(Instant now);
  bool IsRepeated() const {
    return like_failed_ != nullptr && like_failed_->likeness == FailedCalls::Likeness::kRetry;
  }
  AppRetries AppRetriesRule() const;
  bool AdmitAppRetry(Instant now);
  bool ChargeAppRetry(Instant now);
  bool AskSource(Instant now);
  bool ActOn(const RateAdmission& answer, Instant now);
  bool AdmitByRate(const RateAdmission& admission, Instant now);
  void EndRateLimited(const RateAdmission& admission, Instant now);

  CallBooks& books_;
  Call& call_;
  std::unique_ptr<LikeFailed> like_failed_;
  Instant due_ = Instant::Infinite();
  Stage stage_ = Stage::kOutside;
  // The AdmissionSource was asked, has not refused, and no attempt has used its permit.
  bool permit_unsettled_ = false;
  bool charged_ = false;  // to the budget
};

}  // namespace levee
