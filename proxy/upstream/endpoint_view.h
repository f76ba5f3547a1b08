// SPDX-License-Identifier: Apache-2.0
// The view of one endpoint that a pool gives to people.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace levee {

// One endpoint of one worker.
struct EndpointView {
  std::string upstream;
  std::string authority;   // of a destination that is dialled by authority
  std::string address;     // "10.0.0.7:50051"
  std::string host;        // the name that has led to the address; empty: none
  std::string state;       // EndpointStateName
  int active = 0;          // attempts that run on it
  absl::Duration latency;  // as the balancer estimates it; zero: unknown
  std::string failure;     // why it fails: "connection refused"
};

}  // namespace levee
