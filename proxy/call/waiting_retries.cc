// SPDX-License-Identifier: Apache-2.0
#include "call/waiting_retries.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "call/call.h"

namespace levee {
namespace {

constexpr absl::Duration kReleaseFor = absl::Milliseconds(500);
constexpr absl::Duration kTryFor = absl::Milliseconds(100);

// How often the first in line looks: successes on other workers count, too.
constexpr absl::Duration kLookEvery = absl::Milliseconds(10);

}  // namespace

WaitingRetries::Step WaitingRetries::Join(Place& place, Instant now) {
  if (line_.empty()) {
    if (budget_->Release(worker_, place.first_failed_, now)) return Step::kGo;
    const bool may_begin =
        budget_->OnlyFailuresSince(place.first_failed_) && now < budget_->WaitsUntil();
    if (!may_begin) return Step::kExpired;
    failing_since_ = place.first_failed_;
    ends_at_ = Instant::Infinite();
    released_ = over_ = false;
    next_look_ = NextLook(now);
  }
  if (now >= place.until_ || over_) return Step::kExpired;
  if (!places_.Take()) return Step::kFull;
  line_.PushBack(place);
  place.state_ = Place::State::kInLine;
  place.joined_ = now;
  budget_->CountWaiting(1);
  return Step::kWait;
}

WaitingRetries::Step WaitingRetries::Look(Place& place, Instant now) {
  if (!line_.empty() && &line_.Front() == &place) {
    Advance(/*failed=*/false, now);
    next_look_ = NextLook(now);
  }
  if (place.state_ == Place::State::kPaid) {
    Remove(place);
    return Step::kGo;
  }
  return now >= place.until_ || over_ ? Step::kExpired : Step::kWait;
}

// When the first in line looks again.
Instant WaitingRetries::NextLook(Instant now) const {
  Instant next = now + kLookEvery;
  for (const Instant change : {budget_->WaitsUntil(), ends_at_}) {
    if (change > now) next = std::min(next, change);
  }
  return next;
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

// Lets go, or ends, those in line whose time it is. `failed`: an attempt has just done so.
void WaitingRetries::Advance(bool failed, Instant now) {
  if (!released_ && !budget_->OnlyFailuresSince(failing_since_)) {
    released_ = true;
    ends_at_ = now + kReleaseFor;
  }
  const bool tried = !released_ && !ends_at_.is_infinite();
  if (released_) {
    while (!line_.empty() && budget_->Withdraw(worker_, now)) SetPaid(line_.Front());
  } else if (!tried && now >= budget_->WaitsUntil()) {
    ends_at_ = now + kTryFor;
    if (budget_->Release(worker_, failing_since_, now)) SetPaid(line_.Front());
  }
  // The credit comes back with the next answer, what the window has paid only in seconds.
  over_ = over_ || (!ends_at_.is_infinite() && !budget_->WindowPays(now));
  over_ = over_ || now >= ends_at_ || (tried && failed);
  if (over_ && !line_.empty()) AskForTell();
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
  while (over_ && !line_.empty()) line_.Front().call_.OnWaitOver(now);
  if (std::exchange(new_first_, false) && !line_.empty()) line_.Front().call_.OnFirstInLine();
}

}  // namespace levee
