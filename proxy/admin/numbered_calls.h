// The last calls, each with the number of the second under which it is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/instant.h"
#include "telemetry/recent_calls.h"

namespace levee {

// A call is recorded a little after its end, and much later if its worker was busy. A reader that
// asks once a second for the calls of later seconds would miss such a call if its number depended
// on its end alone. One thread at a time.
class NumberedCalls {
 public:
  struct Call {
    uint32_t number = 0;
    std::shared_ptr<const RememberedCall> call;
  };

  // Takes in the calls that are remembered at the end of second `second`, the oldest first;
  // `second` grows from call to call, and 0 does nothing. A new call gets the number of the second
  // in which it ended, counted from `started`. If readers have seen that second already, the call
  // gets the first number that they have not seen.
  void Update(const std::vector<RememberedCall>& remembered, uint32_t second, Instant started);

  // Returns the calls whose number is larger than `since`, the oldest first.
  std::vector<Call> After(uint32_t since) const;

 private:
  size_t CountKnown(const std::vector<RememberedCall>& remembered) const;

  uint32_t second_ = 0;
  std::vector<Call> calls_;
};

}  // namespace levee
