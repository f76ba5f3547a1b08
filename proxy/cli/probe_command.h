// SPDX-License-Identifier: Apache-2.0
// The command `levee probe`: asks a running sidecar whether it is healthy or ready. It is for
// health checks in containers without a shell.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace levee {

struct ProbeOptions {
  bool ready = false;                      // /readyz instead of /healthz
  std::string address = "127.0.0.1:9461";  // HOST:PORT of metrics.address
};

// A probe fails if it has no answer after this time.
inline constexpr absl::Duration kProbeTimeout = absl::Seconds(2);

// Returns "ready" or "healthy", or an error that says in one line why the sidecar is not. Waits at
// most `timeout`. A thread that still waits for a name or a connection then goes on until the
// process ends.
absl::StatusOr<std::string> Probe(const ProbeOptions& options, absl::Duration timeout);

// Prints the answer on standard output, or the error on standard error. Returns the exit code.
int RunProbe(const ProbeOptions& options);

}  // namespace levee
