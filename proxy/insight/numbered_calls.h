// SPDX-License-Identifier: Apache-2.0
// The last calls, each with the number of the second in which readers get it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/instant.h"
#include "insight/recent_calls.h"

namespace levee {

// The number of the second in which something at `time` happened. The first second after `started`
// has the number 1, and the instant at its end belongs to it.
uint32_t SecondOf(Instant time, Instant started);

// A reader asks once a second for the calls of the seconds since it asked the last time. A call is
// added to the recent calls a little after its end, and much later if its worker was busy. If it
// were numbered by the second of its end, such a reader would miss it. One thread at a time.
class NumberedCalls {
 public:
  struct Call {
    uint32_t number = 0;
    std::shared_ptr<const RememberedCall> call;
  };

  // Takes in the calls that were remembered, up to the end of second `second`, after the call
  // `last_id`, the oldest first. The oldest of more than RecentCalls::kKept are forgotten. `second`
  // grows from call to call. A new call gets the number of the second in which it ended, counted
  // from `started`; if readers have got that second already, it gets the number of the first second
  // that they have not got. Second 0 has no calls, and takes none in.
  void Update(const std::vector<RememberedCall>& remembered, uint32_t second, Instant started);

  // The id of the last call that was taken in; 0: none was.
  uint64_t last_id() const { return calls_.empty() ? 0 : calls_.back().call->id; }

  // Returns the calls whose number is larger than `since`, the oldest first.
  std::vector<Call> After(uint32_t since) const;

 private:
  uint32_t second_ = 0;
  std::deque<Call> calls_;
};

}  // namespace levee
