// SPDX-License-Identifier: Apache-2.0
#include "call/next_attempt.h"

#include <utility>

#include "base/check.h"

namespace levee {

// Only one that waits in line may have no due: the line tells its call.
void NextAttempt::CheckState() const {
  LEVEE_DCHECK(scheduled() || due_.is_infinite());
  LEVEE_DCHECK(!scheduled() || in_line() || !due_.is_infinite());
  LEVEE_DCHECK(scheduled() || !in_line());
}

void NextAttempt::Schedule(const PlannedAttempt& plan, Instant now) {
  LEVEE_DCHECK(!scheduled() && unpaid_ == nullptr);
  plan_ = std::make_unique<PlannedAttempt>(plan);
  due_ = now + plan.delay;
  CheckState();
}

void NextAttempt::ScheduleUnpaid(const PlannedAttempt& plan, std::unique_ptr<UnpaidRetry> unpaid,
                                 Instant now) {
  Schedule(plan, now);
  unpaid_ = std::move(unpaid);
}

void NextAttempt::ReplaceFailure(AttemptId failed, AttemptOutcome outcome) {
  if (unpaid_ == nullptr) return;
  unpaid_->failed = failed;
  unpaid_->outcome = std::move(outcome);
}

NextAttempt::Step NextAttempt::OnDue(Instant now) {
  LEVEE_DCHECK(scheduled());
  if (unpaid_ == nullptr) return Step::kStart;
  using Look = WaitingRetries::Step;
  WaitingRetries& line = *books_.plan.waiting;
  WaitingRetries::Place& place = unpaid_->place;
  const bool joins = !place.waits();
  const Look look = joins ? line.Join(place, now) : line.Look(place, now);
  switch (look) {
    case Look::kGo:
      if (!joins) RecordWait(WaitEnd::kReleased, now);
      SetPaid(/*waited=*/!joins, now);
      return Step::kStart;
    case Look::kWait:
      due_ = line.LookAt(place);
      CheckState();
      return Step::kWaits;
    case Look::kExpired:
    case Look::kFull:
      break;
  }
  books_.record.waiting_full = look == Look::kFull;
  const bool for_deadline = unpaid_->bounded && now >= place.until();
  unpaid_->waited = place.waits();
  LeaveLine(for_deadline ? WaitEnd::kDeadline : WaitEnd::kExpired, now);
  plan_.reset();
  due_ = Instant::Infinite();
  CheckState();
  return Step::kInVain;
}

void NextAttempt::OnPaid(Instant now) {
  RecordWait(WaitEnd::kReleased, now);
  SetPaid(/*waited=*/true, now);
}

void NextAttempt::OnFirstInLine() {
  due_ = books_.plan.waiting->LookAt(unpaid_->place);
  CheckState();
}

PlannedAttempt NextAttempt::Take() {
  LEVEE_DCHECK(scheduled() && unpaid_ == nullptr);
  due_ = Instant::Infinite();
  return *std::exchange(plan_, nullptr);
}

void NextAttempt::Drop(WaitEnd end, Instant now) {
  if (unpaid_ != nullptr) LeaveLine(end, now);
  unpaid_.reset();
  plan_.reset();
  due_ = Instant::Infinite();
}

void NextAttempt::LeaveLine(WaitEnd end, Instant now) {
  if (unpaid_->place.waits()) RecordWait(end, now);
  books_.plan.waiting->Leave(unpaid_->place);
}

void NextAttempt::SetPaid(bool waited, Instant now) {
  const std::unique_ptr<UnpaidRetry> paid = std::move(unpaid_);
  plan_->price = 1;
  if (!waited) return;
  plan_->delay = now - paid->place.since();
  plan_->backed_off = false;
}

// It waits in line no longer.
void NextAttempt::RecordWait(WaitEnd end, Instant now) {
  books_.record.waits.push_back({.after = static_cast<int>(books_.record.attempts.size()),
                                 .end = end,
                                 .waited = now - unpaid_->place.joined()});
}

}  // namespace levee
