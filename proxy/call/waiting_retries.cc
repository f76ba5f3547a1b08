// SPDX-License-Identifier: Apache-2.0
#include "call/waiting_retries.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "call/call.h"

namespace levee {
namespace {

constexpr int kPerSuccess = 2;
constexpr absl::Duration kProbeAfter = absl::Milliseconds(250);

constexpr double kEnoughPaid = 2.0 / 3;
constexpr absl::Duration kCloseAfter = absl::Milliseconds(100);
// Without a success for so long, partial failure has become an outage.
constexpr absl::Duration kReopenAfter = absl::Milliseconds(250);

// How often the first in line looks: successes on other workers pay, too.
constexpr absl::Duration kLookEvery = absl::Milliseconds(10);

}  // namespace

WaitingRetries::Step WaitingRetries::Join(Place& place, Instant now) {
  if (line_.empty() && Pay(place, now)) return Step::kGo;
  if (now >= place.until_) return Step::kExpired;
  if (Closed(now)) {
    paid_.Record(false);
    return Step::kClosed;
  }
  if (!places_.Take()) return Step::kFull;
  if (line_.empty()) {
    next_look_ = now + kLookEvery;
    paid_since_ = Instant::Infinite();
  }
  line_.PushBack(place);
  place.state_ = Place::State::kInLine;
  place.joined_ = now;
  budget_->CountWaiting(1);
  return Step::kWait;
}

WaitingRetries::Step WaitingRetries::Look(Place& place, Instant now) {
  if (place.state_ == Place::State::kPaid) {
    Remove(place);
    return Step::kGo;
  }
  if (&line_.Front() == &place) {
    next_look_ = now + kLookEvery;
    if (Pay(place, now)) {
      Leave(place);
      return Step::kGo;
    }
  }
  if (now < place.until_) return Step::kWait;
  if (last_success_ > place.since_) paid_.Record(false);
  return Step::kExpired;
}

Instant WaitingRetries::LookAt(const Place& place) const {
  const bool first = !line_.empty() && &line_.Front() == &place;
  return first ? std::min(place.until_, next_look_) : place.until_;
}

void WaitingRetries::Leave(Place& place) {
  const bool paid = place.state_ == Place::State::kPaid;
  const bool first = place.state_ == Place::State::kInLine && &line_.Front() == &place;
  Remove(place);
  if (paid && !line_.empty()) SetPaid(line_.Front());
  if (first) OnNewFirst();
}

bool WaitingRetries::Closed(Instant now) const {
  return paid_.SuccessRate() < kEnoughPaid && !line_.empty() && now >= paid_since_ + kCloseAfter &&
         FailingFor(now) < kReopenAfter;
}

// Whether the budget pays for the first in line now.
bool WaitingRetries::Pay(Place& place, Instant now) {
  const bool away = budget_->SeemsAway();
  if (away && !MayProbe(place, now)) return false;
  if (!budget_->Withdraw(worker_, now)) return false;
  if (away) place.probe_ = probing_ = true;
  paid_.Record(true);
  return true;
}

bool WaitingRetries::MayProbe(const Place& place, Instant now) const {
  const Instant other_first = last_first_ == place.begun_ ? previous_first_ : last_first_;
  const Instant other_start = last_start_ > place.since_ ? last_start_ : other_first;
  if (probing_ || now - std::max(other_first, other_start) < kProbeAfter) return false;
  return now >= place.until_ || budget_->Credit(now) >= 2;
}

void WaitingRetries::Release(Instant now) {
  for (int i = 0; i < kPerSuccess && !line_.empty(); ++i) {
    if (!budget_->Withdraw(worker_, now)) return;
    paid_.Record(true);
    next_look_ = now + kLookEvery;
    SetPaid(line_.Front());
  }
}

// The first in line may go, and its call will be told.
void WaitingRetries::SetPaid(Place& place) {
  Remove(place);
  place.state_ = Place::State::kPaid;
  paid_line_.PushBack(place);
  OnNewFirst();
  AskForTell();
}

void WaitingRetries::Remove(Place& place) {
  if (place.state_ == Place::State::kInLine) {
    places_.Free();
    budget_->CountWaiting(-1);
  }
  place.state_ = Place::State::kOutside;
  place.Unlink();
}

void WaitingRetries::OnNewFirst() {
  if (line_.empty()) return;
  const Place& first = line_.Front();
  paid_since_ =
      first.since_ <= last_success_ ? std::max(paid_since_, first.since_) : Instant::Infinite();
  new_first_ = true;
  AskForTell();
}

void WaitingRetries::AskForTell() {
  if (!std::exchange(asked_, true)) wake_();
}

void WaitingRetries::Tell(Instant now) {
  asked_ = false;
  while (!paid_line_.empty()) {
    Place& place = paid_line_.Front();
    Remove(place);
    place.call_.OnPaid(now);
  }
  if (std::exchange(new_first_, false) && !line_.empty()) line_.Front().call_.OnFirstInLine();
}

}  // namespace levee
