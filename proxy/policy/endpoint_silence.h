// SPDX-License-Identifier: Apache-2.0
// How long an endpoint has owed an answer.
#pragma once

#include <cstdint>

#include "base/instant.h"

namespace levee {

// Silence is the time for which attempts were out and none was answered, since the endpoint last
// answered anything. A value without clock; one thread; `now` never goes backward.
class EndpointSilence {
 public:
  // An attempt goes there.
  void OnAttempt(Instant now) {
    if (!owes()) began_ = now;
    if (since_.is_infinite()) since_ = Instant::FromNanos(now.nanos() - lasted_);
  }

  // It has answered, if only with a failure.
  void OnLife(Instant now) {
    since_ = Instant::Infinite();
    lasted_ = 0;
    life_ = now;
  }

  // No attempt is out any more.
  void OnIdle(Instant now) {
    lasted_ = Nanos(now);
    since_ = Instant::Infinite();
  }

  // Its length, in nanoseconds; 0: there is none.
  int64_t Nanos(Instant now) const {
    return since_.is_infinite() ? lasted_ : now.nanos() - since_.nanos();
  }

  // Whether an attempt has gone there since it last answered, and when the first of these went.
  bool owes() const { return !since_.is_infinite() || lasted_ > 0; }
  Instant began() const { return began_; }

  // When it last answered; the beginning of time if it never has.
  Instant last_life() const { return life_; }

 private:
  Instant since_ = Instant::Infinite();  // while attempts are out; earlier by what lasted before
  int64_t lasted_ = 0;                   // while none is out
  Instant began_;
  Instant life_;
};

}  // namespace levee
