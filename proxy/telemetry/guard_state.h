// SPDX-License-Identifier: Apache-2.0
// The guard of one upstream at a moment, as metrics, state and page show it.
#pragma once

#include "wire/overload_mark.h"

namespace levee {

// Of several guards of the upstream the sum.
struct GuardState {
  int limit = 0;  // calls that the service may work on at a time; 0: any number
  int least = 0;  // what an adaptive limit does not go below; 0: it is not adaptive
  int in_flight = 0;
  int streams = 0;  // of these
  int waiting = 0;
  bool stands = false;                             // the queue has not been empty for long
  bool observes = false;                           // nothing is refused, only counted
  OverloadScope scope = OverloadScope::kEndpoint;  // that a refusal has
  // The shares of retries of the last ten seconds: in the calls that arrived, and in the attempts
  // that callers' sidecars report.
  double arrived_retry_share = 0;
  double reported_retry_share = 0;

  bool operator==(const GuardState&) const = default;
};

}  // namespace levee
