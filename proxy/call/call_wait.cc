// SPDX-License-Identifier: Apache-2.0
// How a retry waits for a success to pay for it.
#include <optional>
#include <utility>

#include "call/call.h"

namespace levee {

// Schedules a retry that nothing has paid for yet: unpaid_.
void Call::ScheduleUnpaid(const NextAttempt& next, Instant now) {
  hedge_at_ = Instant::Infinite();
  next_ = next;
  next_at_ = now + next.delay;
  if (next_at_ <= now) PayOrWait(now);
  if (!finished_) ArmTimer();
}

// The backoff of a retry that has not been paid for is over, or it looks again.
void Call::PayOrWait(Instant now) {
  using Step = WaitingRetries::Step;
  WaitingRetries::Place& place = unpaid_->place;
  const bool joins = !place.waits();
  const Step step =
      joins ? books_.parts.waiting->Join(place, now) : books_.parts.waiting->Look(place, now);
  switch (step) {
    case Step::kGo:
      if (!joins) RecordWait(WaitEnd::kReleased, now);
      StartPaid(/*waited=*/!joins, now);
      return;
    case Step::kWait:
      next_at_ = books_.parts.waiting->LookAt(place);
      return;
    case Step::kExpired:
    case Step::kFull:
      books_.record.waiting_full = step == Step::kFull;
      EndWait(unpaid_->bounded && now >= place.until() ? WaitEnd::kDeadline : WaitEnd::kExpired,
              now);
      return;
  }
}

// The retry that waits does so no longer.
void Call::RecordWait(WaitEnd end, Instant now) {
  books_.record.waits.push_back({.after = static_cast<int>(books_.record.attempts.size()),
                                 .waited = now - unpaid_->place.joined(),
                                 .end = end});
}

void Call::OnPaid(Instant now) {
  const OneEvent event(&books_.parts.replay);
  RecordWait(WaitEnd::kReleased, now);
  StartPaid(/*waited=*/true, now);
}

void Call::OnFirstInLine() {
  const OneEvent event(&books_.parts.replay);
  next_at_ = books_.parts.waiting->LookAt(unpaid_->place);
  ArmTimer();
}

void Call::OnWaitOver(Instant now) {
  const OneEvent event(&books_.parts.replay);
  PayOrWait(now);
}

void Call::StartPaid(bool waited, Instant now) {
  const std::unique_ptr<UnpaidRetry> paid = std::move(unpaid_);
  NextAttempt next = *std::exchange(next_, std::nullopt);
  next_at_ = Instant::Infinite();
  next.price = 1;
  if (waited) {
    next.delay = now - paid->place.since();
    next.backed_off = false;
  }
  StartAttempt(next, now);
}

// Takes the retry that nothing has paid for, and perhaps waits, out of the line.
std::unique_ptr<Call::UnpaidRetry> Call::LeaveLine(WaitEnd end, Instant now) {
  if (unpaid_->place.waits()) RecordWait(end, now);
  books_.parts.waiting->Leave(unpaid_->place);
  return std::move(unpaid_);
}

// Nothing has paid for the retry, which may have waited for that: the call ends as one that the
// budget refuses, unless other attempts of it are under way.
void Call::EndWait(WaitEnd end, Instant now) {
  const bool waited = unpaid_->place.waits();
  const std::unique_ptr<UnpaidRetry> unpaid = LeaveLine(end, now);
  next_.reset();
  next_at_ = Instant::Infinite();
  if (WaitForOthers(RefusalReason::kBudget, now)) return;
  EndExhausted(unpaid->failed, unpaid->outcome, RefusalReason::kBudget, now,
               waited ? &books_.record.waits.back() : nullptr);
}

}  // namespace levee
