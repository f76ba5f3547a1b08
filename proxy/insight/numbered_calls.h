// The last calls, each with the second with which it is told.
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

// A call is noted a little after its end, and much later if its worker was busy. Who asks once a
// second for what later seconds have added would miss it if it were numbered by its end alone. One
// thread at a time.
class NumberedCalls {
 public:
  struct Call {
    uint32_t number = 0;
    std::shared_ptr<const RememberedCall> call;
  };

  // Takes in what is remembered at the end of second `second`, which grows from call to call, the
  // oldest first. New ones get the number of the second in which they ended, counted from
  // `started`, if it has not been told yet; else of the first that has not. Nothing is told with
  // second 0.
  void Update(const std::vector<RememberedCall>& remembered, uint32_t second, Instant started);

  // Those whose number is larger than `since`, the oldest first.
  std::vector<Call> After(uint32_t since) const;

 private:
  size_t CountKnown(const std::vector<RememberedCall>& remembered) const;

  uint32_t second_ = 0;
  std::vector<Call> calls_;
};

}  // namespace levee
