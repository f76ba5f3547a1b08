// SPDX-License-Identifier: Apache-2.0
// The attempt of a call that is to be made next, while it waits for its time or for being paid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"
#include "call/call_books.h"
#include "call/waiting_retries.h"
#include "policy/retry_decision.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

// An attempt to be started, and what it follows.
struct PlannedAttempt {
  std::optional<RetryTrigger> trigger;  // none: the call's first
  StatusCode after = StatusCode::kOk;
  absl::Duration delay = absl::ZeroDuration();
  bool backed_off = false;
  bool transparent = false;
  int price = 0;  // that was paid for it from the budget
  // Of an attempt that never left, whose place it takes: its record.
  std::optional<uint32_t> record;
  // Of an attempt that it repeats without being counted: the number of that.
  std::optional<int> number;
};

// A retry that nothing has paid for yet, and the last failure of the call, with which it ends if
// nothing ever does.
struct UnpaidRetry {
  WaitingRetries::Place place;
  bool bounded;  // it waits no longer for the sake of the deadline
  AttemptId failed;
  AttemptOutcome outcome;
  bool waited = false;  // of one that was given up: it has been in line
};

// At most one attempt is scheduled at a time. First its delay passes. One that nothing has paid for
// then waits in the line of retries until something does. A call has few of them, so what is
// scheduled has memory of its own. One thread.
class NextAttempt {
 public:
  enum class Step {
    kWaits,   // until due(), or until the line tells the call
    kStart,   // Take
    kInVain,  // nothing pays for it, and it is not scheduled any more: TakeUnpaid
  };

  explicit NextAttempt(CallBooks& books) : books_(books) {}

  bool scheduled() const { return plan_ != nullptr; }

  // When OnDue is to be called; Infinite: not at all.
  Instant due() const { return due_; }

  // Schedules one that has been paid for. None may be scheduled; likewise below.
  void Schedule(const PlannedAttempt& plan, Instant now);

  // Schedules one that nothing has paid for.
  void ScheduleUnpaid(const PlannedAttempt& plan, std::unique_ptr<UnpaidRetry> unpaid, Instant now);

  // Another attempt has failed since. A call that waits in vain ends by the last attempt that
  // ended: the host keeps no other answer.
  void ReplaceFailure(AttemptId failed, AttemptOutcome outcome);

  // Its delay is over, or it looks at its place in line. One must be scheduled.
  Step OnDue(Instant now);

  // It has waited, and something has paid for it: Take.
  void OnPaid(Instant now);

  // It has become the first in line: due() may have changed.
  void OnFirstInLine();

  // Returns the attempt of kStart or OnPaid, which is not scheduled any more.
  PlannedAttempt Take();

  // Returns the retry of kInVain. Not nullptr.
  std::unique_ptr<UnpaidRetry> TakeUnpaid() { return std::move(unpaid_); }

  // Whether it waits in line.
  bool in_line() const { return unpaid_ != nullptr && unpaid_->place.waits(); }

  // The one that is scheduled is not any more. `end`: why its wait in line ends, if it waits there.
  void Drop(WaitEnd end, Instant now);

 private:
  void LeaveLine(WaitEnd end, Instant now);
  void SetPaid(bool waited, Instant now);
  void RecordWait(WaitEnd end, Instant now);
  void CheckState() const;

  CallBooks& books_;
  std::unique_ptr<PlannedAttempt> plan_;
  std::unique_ptr<UnpaidRetry> unpaid_;  // what it still has to wait for; nullptr: it is paid for
  Instant due_ = Instant::Infinite();
};

}  // namespace levee
