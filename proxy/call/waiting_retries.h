// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "policy/retry_budget.h"
#include "policy/waiting_places.h"

namespace levee {

class Call;

// The retries of one worker that wait for a run of failures of one destination to end
// (RetryBudget::Ask), in the order in which they came. A success lets as many go as can be paid
// for, and each one of them that succeeds pays for the next. So the release is clocked by answers,
// as TCP's sending is by acknowledgements (slow start, RFC 5681). The rest end after kReleaseFor,
// and sooner where the budget's window is used up.
//
// Where no success comes, all wait until the same moment, however late they came. Then the first in
// line goes, if the budget still pays for it, and the others end as soon as another attempt fails,
// at the latest after kTryFor. So an outage holds callers once and not again and again.
//
// It decides while a call handles an event, which may be one of the calls that wait, so it tells no
// call anything then: it asks its host for Tell.
//
// One thread. It outlives the calls that wait in it.
class WaitingRetries {
 public:
  // `wake`: asks for Tell, soon and while no call handles an event. Does not call back. Not called
  // again before Tell.
  WaitingRetries(std::shared_ptr<RetryBudget> budget, int worker, WaitingPlaces& places,
                 std::function<void()> wake)
      : budget_(std::move(budget)), worker_(worker), places_(places), wake_(std::move(wake)) {}
  WaitingRetries(const WaitingRetries&) = delete;
  WaitingRetries& operator=(const WaitingRetries&) = delete;

  // The place of a call's retry. It leaves the line when it is destroyed, but wakes nobody.
  class Place : public ListLink<Place> {
   public:
    // The call's attempts failed first at `first_failed` and last at `since`. It waits no longer
    // than `until` for reasons of its own.
    Place(WaitingRetries& line, Call& call, Instant first_failed, Instant since, Instant until)
        : line_(line), call_(call), first_failed_(first_failed), since_(since), until_(until) {}
    ~Place() { line_.Remove(*this); }

    Instant since() const { return since_; }
    Instant until() const { return until_; }

    // When the retry came to wait; only if it did.
    Instant joined() const { return joined_; }

    // Whether the retry has come to wait and has not gone.
    bool waits() const { return state_ != State::kOutside; }

   private:
    friend class WaitingRetries;
    // kPaid: the retry has been paid for, and its call has not been told.
    enum class State { kOutside, kInLine, kPaid };
    WaitingRetries& line_;
    Call& call_;
    const Instant first_failed_;
    const Instant since_;
    const Instant until_;
    Instant joined_;
    State state_ = State::kOutside;
  };

  enum class Step {
    kGo,       // the retry has been paid for, and waits no more
    kWait,     // it is in line
    kExpired,  // its time is over
    kFull,     // there is no place for it: limits.waiting_calls
  };

  const RetryBudget& budget() const { return *budget_; }

  // A retry comes to wait.
  Step Join(Place& place, Instant now);

  // A retry that waits looks at LookAt whether it may go. Call::OnFirstInLine tells of a new
  // LookAt.
  Step Look(Place& place, Instant now);
  Instant LookAt(const Place& place) const;

  // A retry ends its wait. If it has been paid for, that pays for the first in line.
  void Leave(Place& place);

  // Tells calls that they go (Call::OnPaid), that the wait is over (Call::OnWaitOver), and the
  // first in line that it is that (Call::OnFirstInLine). For the host alone; see `wake`.
  void Tell(Instant now);

  // An attempt ended, and the budget knows of it.
  void OnEnd(bool success, Instant now) {
    if (!line_.empty()) Advance(/*failed=*/!success, now);
  }

 private:
  Instant NextLook(Instant now) const;
  void Advance(bool failed, Instant now);
  void SetPaid(Place& place);
  void Remove(Place& place);
  void OnNewFirst();
  void AskForTell();

  const std::shared_ptr<RetryBudget> budget_;
  const int worker_;
  WaitingPlaces& places_;
  const std::function<void()> wake_;
  bool asked_ = false;      // for Tell
  bool new_first_ = false;  // in line, and its call has not been told
  IntrusiveList<Place> line_;
  IntrusiveList<Place> paid_line_;  // those of kPaid

  // Of the line since it was empty last.
  Instant failing_since_;
  Instant ends_at_ = Instant::Infinite();  // once it is being released, or its first has gone
  bool released_ = false;                  // a success has come
  bool over_ = false;
  Instant next_look_;  // of the first in line
};

}  // namespace levee
