// SPDX-License-Identifier: Apache-2.0
// Decides which calls the access log records.
#pragma once

#include "base/random.h"
#include "wire/call_record.h"

namespace levee {

// `access_log.when` and `access_log.sample`.
struct AccessLogFilter {
  bool all = false;
  bool retried = true;  // more than one attempt, transparent retries and hedges included
  bool failed = true;   // the caller saw another code than OK
  double sample = 1;    // the share of the calls chosen above that is logged, 0 to 1

  // Whether this ended call is logged. Draws from `random` only for a call that is chosen.
  bool Selects(const CallRecord& record, Random& random) const {
    const bool chosen = all || (failed && record.code != StatusCode::kOk) ||
                        (retried && record.attempts.size() > 1);
    return chosen && random.Uniform() < sample;
  }
};

}  // namespace levee
