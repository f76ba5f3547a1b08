// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success to pay for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "policy/retry_budget.h"
#include "policy/success_register.h"
#include "policy/waiting_places.h"

namespace levee {

class Call;

// The retries of one worker that wait until one budget pays for them, in the order in which they
// came. Each success lets at most two of them go. So the release is clocked by answers, as TCP's
// sending is by acknowledgements (slow start, RFC 5681), and an upstream that is back is not met by
// all of them at once.
//
// As long as the last attempts have all failed (RetryBudget::SeemsAway), no retry goes: the first
// attempts of other calls show when the upstream is back. If none was started for kProbeAfter, the
// first retry in line goes as a probe, one at a time. A probe leaves one credit behind, with which
// the others begin as soon as an attempt succeeds. Only a retry whose wait is over may take the
// last one.
//
// Where only some attempts fail, and go on failing, successes pay for few of the retries. If all
// waited, each would wait its whole time, and most of them in vain. So where less than two of three
// have been paid for lately, the line closes as soon as its first has waited for kCloseAfter since
// attempts succeed. In an outage, where nothing succeeds, all wait.
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
    // The call's first attempt started at `begun`, the last one failed at `since`. The retry waits
    // until `until`.
    Place(WaitingRetries& line, Call& call, Instant begun, Instant since, Instant until)
        : line_(line), call_(call), begun_(begun), since_(since), until_(until) {}
    ~Place() { line_.Remove(*this); }

    Instant since() const { return since_; }

    // When the retry came to wait; only if it did.
    Instant joined() const { return joined_; }

    // Whether the retry has come to wait and has not gone.
    bool waits() const { return state_ != State::kOutside; }

    // Whether the retry has been paid for as a probe. Then OnProbeEnd has to follow.
    bool probe() const { return probe_; }

   private:
    friend class WaitingRetries;
    // kPaid: a success has paid for the retry, and its call has not been told.
    enum class State { kOutside, kInLine, kPaid };
    WaitingRetries& line_;
    Call& call_;
    const Instant begun_;
    const Instant since_;
    const Instant until_;
    Instant joined_;
    State state_ = State::kOutside;
    bool probe_ = false;
  };

  enum class Step {
    kGo,       // the retry has been paid for, and waits no more
    kWait,     // it is in line
    kExpired,  // its time is over
    kFull,     // there is no place for it: limits.waiting_calls
    kClosed,   // the line is closed
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

  // Tells calls that their retries have been paid for (Call::OnPaid) and the first in line that it
  // is that (Call::OnFirstInLine). For the host alone; see `wake`.
  void Tell(Instant now);

  // An attempt to the upstream begins; `first`: of its call.
  void OnStart(bool first, Instant now) {
    last_start_ = now;
    if (first) previous_first_ = std::exchange(last_first_, now);
  }

  // An attempt ended, and the budget knows of it. A success pays for retries.
  void OnEnd(bool success, Instant now) {
    if (!success) {
      // One of long ago is no part of this fault: the upstream is a quiet one.
      if (now - last_failed_ >= kFaultGap) failing_since_ = now;
      failing_since_ = std::min(failing_since_, now);
      last_failed_ = now;
      return;
    }
    failing_since_ = Instant::Infinite();
    last_success_ = now;
    if (line_.empty()) return;
    paid_since_ = std::min(paid_since_, now);
    Release(now);
  }

  // Returns how long attempts have failed without a success, or kFaultGap, between them; zero: the
  // last one succeeded. Attempts of other workers do not count.
  absl::Duration FailingFor(Instant now) const {
    return failing_since_.is_infinite() ? absl::ZeroDuration() : now - failing_since_;
  }

  // An attempt that went as a probe is over, one way or the other.
  void OnProbeEnd() { probing_ = false; }

 private:
  static constexpr absl::Duration kFaultGap = absl::Seconds(10);

  bool Closed(Instant now) const;
  bool Pay(Place& place, Instant now);
  bool MayProbe(const Place& place, Instant now) const;
  void Release(Instant now);
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
  Instant last_start_;
  Instant last_first_;
  Instant previous_first_;
  Instant next_look_;  // of the first in line
  Instant last_failed_;
  Instant last_success_;
  Instant paid_since_ = Instant::Infinite();  // the first success since the first in line failed
  Instant failing_since_ = Instant::Infinite();
  bool probing_ = false;
  SuccessRegister paid_;  // of those that came while attempts succeeded
};

}  // namespace levee
