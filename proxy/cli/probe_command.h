// SPDX-License-Identifier: Apache-2.0
// The command `levee probe`: asks a running sidecar, for health checks in containers without shell.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace levee {

struct ProbeOptions {
  bool ready = false;                      // /readyz instead of /healthz
  std::string address = "127.0.0.1:9461";  // HOST:PORT of metrics.address
};

// Without an answer for this long a probe fails.
inline constexpr absl::Duration kProbeTimeout = absl::Seconds(2);

// "ready" or "healthy"; the error says in one line why not. Waits `timeout` at most; what still
// waits for a name or a connection then is left to the end of the process.
absl::StatusOr<std::string> Probe(const ProbeOptions& options, absl::Duration timeout);

// Prints the answer on standard output, or on standard error why there is none. Returns the exit
// code.
int RunProbe(const ProbeOptions& options);

}  // namespace levee
