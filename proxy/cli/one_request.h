// SPDX-License-Identifier: Apache-2.0
// One HTTP request to a running sidecar, for commands that run in its container.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace levee {

struct OneRequest {
  std::string address;  // HOST:PORT
  std::string method = "GET";
  std::string path;
};

// Returns OK if the answer's status is 2xx, or an error that says in one line why not. Waits at
// most `timeout`. A thread that still waits for a name or a connection then goes on until the
// process ends.
absl::Status Ask(const OneRequest& request, absl::Duration timeout);

}  // namespace levee
