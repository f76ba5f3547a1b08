// SPDX-License-Identifier: Apache-2.0
#include "cli/probe_command.h"

#include <cstdio>
#include <string>

#include "cli/one_request.h"

namespace levee {

absl::StatusOr<std::string> Probe(const ProbeOptions& options, absl::Duration timeout) {
  const absl::Status status =
      Ask({.address = options.address, .path = options.ready ? "/readyz" : "/healthz"}, timeout);
  if (!status.ok()) return status;
  return options.ready ? "ready" : "healthy";
}

int RunProbe(const ProbeOptions& options) {
  const auto answer = Probe(options, kProbeTimeout);
  if (!answer.ok()) {
    std::fprintf(stderr, "levee: %s\n", std::string(answer.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", answer->c_str());
  return 0;
}

}  // namespace levee
