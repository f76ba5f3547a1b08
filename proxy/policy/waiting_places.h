// SPDX-License-Identifier: Apache-2.0
// Bounds how many calls of one worker wait.
#pragma once

#include <cstdint>

namespace levee {

// The calls of one worker that wait at a time (`limits.waiting_calls`): for a success to pay for
// their retry, or for a connection (`connect_wait`). One thread.
class WaitingPlaces {
 public:
  explicit WaitingPlaces(int64_t number) : number_(number) {}

  // Sets another bound. If more places are taken than that, no further one is given until enough of
  // them are free.
  void Resize(int64_t number) { number_ = number; }

  bool Take() {
    if (taken_ >= number_) return false;
    ++taken_;
    return true;
  }
  void Free() { --taken_; }

 private:
  int64_t number_;
  int64_t taken_ = 0;
};

}  // namespace levee
