// SPDX-License-Identifier: Apache-2.0
// How many calls of a service go on although their callers have gone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/block_cache.h"

namespace levee {

// A call with an idempotency key goes on without its caller, who will repeat it. Such a call costs
// nobody a connection, so without a bound one caller could take the whole service. Of the slots of
// a guard all such calls together may hold half, and those of one caller a quarter, but one if the
// half is one. Where there is no limit, or a higher one, that is of kMostSlots. Any thread.
class LoneCalls {
 private:
  using Callers = std::map<uint64_t, int>;  // their calls, by who they are

 public:
  static constexpr int kMostSlots = 400;

  // Of a call that goes on. The LoneCalls outlive it.
  class Place : public InBlocks {
   public:
    Place(LoneCalls& calls, Callers::iterator caller) : calls_(calls), caller_(caller) {}
    ~Place() { calls_.Leave(caller_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LoneCalls& calls_;
    const Callers::iterator caller_;
  };

  // One more call of `caller` (KeyOwner::sender) would go on. `slots`: of the guard now; 0: it has
  // no limit. Returns nullptr if there is no room for it.
  std::unique_ptr<Place> Enter(uint64_t caller, int slots);

 private:
  void Leave(Callers::iterator caller);

  std::mutex mutex_;
  Callers callers_;  // who have calls that go on
  int all_ = 0;
};

}  // namespace levee
