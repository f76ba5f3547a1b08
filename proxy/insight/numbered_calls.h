// SPDX-License-Identifier: Apache-2.0
// The last calls, each with the number of the second in which readers get it.
#pragma once

#include <cstdint>
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

  // Takes in the calls that are remembered at the end of second `second`, the oldest first.
  // `second` grows from call to call. A new call gets the number of the second in which it ended,
  // counted from `started`; if readers have got that second already, it gets the number of the
  // first second that they have not got. Second 0 has no calls.
  void Update(const std::vector<RememberedCall>& remembered, uint32_t second, Instant started);

  // Returns the calls whose number is larger than `since`, the oldest first.
  std::vector<Call> After(uint32_t since) const;

 private:
  size_t CountKnown(const std::vector<RememberedCall>& remembered) const;

  uint32_t second_ = 0;
  std::vector<Call> calls_;
};

}  // namespace levee
