// SPDX-License-Identifier: Apache-2.0
// The attempts of one call that are under way: one, or several where the call is hedged.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/instant.h"
#include "call/call_host.h"

namespace levee {

struct ActiveAttempt {
  AttemptId id = 0;
  uint32_t record = 0;    // index in CallRecord::attempts
  int number = 1;         // among those that are counted, from 1; one that is repeated keeps it
  int price = 0;          // that was paid for it from the budget, in credits
  bool has_head = false;  // its response head came; perhaps it is held
  Instant deadline = Instant::Infinite();    // attempt_timeout; Infinite once it answers
  Instant hold_until = Instant::Infinite();  // Infinite: no head is held
};

// In the order in which they were started. One thread.
class ActiveAttempts {
 public:
  bool empty() const { return list_.empty(); }
  ActiveAttempt& oldest() { return list_.front(); }
  void Add(const ActiveAttempt& attempt) { list_.push_back(attempt); }

  // nullptr if it is not under way.
  ActiveAttempt* Find(AttemptId id) {
    return FindIf([id](const ActiveAttempt& attempt) { return attempt.id == id; });
  }

  // One that is not `id`, nullptr if there is none.
  const ActiveAttempt* FindOther(AttemptId id) {
    return FindIf([id](const ActiveAttempt& attempt) { return attempt.id != id; });
  }

  // It must be under way.
  ActiveAttempt Remove(AttemptId id) {
    ActiveAttempt* const found = Find(id);
    const ActiveAttempt removed = *found;
    list_.erase(list_.begin() + (found - list_.data()));
    return removed;
  }

  // None has an attempt_timeout any more.
  void ForgetTimeouts() {
    for (ActiveAttempt& attempt : list_) attempt.deadline = Instant::Infinite();
  }

  // One whose attempt_timeout has passed, one whose head has been held long enough; nullptr if
  // there is none.
  ActiveAttempt* FindTimedOut(Instant now) {
    return FindIf([now](const ActiveAttempt& attempt) { return now >= attempt.deadline; });
  }
  ActiveAttempt* FindHeldLongEnough(Instant now) {
    return FindIf([now](const ActiveAttempt& attempt) { return now >= attempt.hold_until; });
  }

  // The next instant at which one of these two finds something.
  Instant NextDue() const {
    Instant next = Instant::Infinite();
    for (const ActiveAttempt& attempt : list_) {
      next = std::min({next, attempt.deadline, attempt.hold_until});
    }
    return next;
  }

  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  // A plain loop: there is nearly always just one.
  template <typename Predicate>
  ActiveAttempt* FindIf(Predicate matches) {
    for (ActiveAttempt& attempt : list_) {
      if (matches(attempt)) return &attempt;
    }
    return nullptr;
  }

  absl::InlinedVector<ActiveAttempt, 1> list_;
};

}  // namespace levee
