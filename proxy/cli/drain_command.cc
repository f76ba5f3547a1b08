// SPDX-License-Identifier: Apache-2.0
#include "cli/drain_command.h"

#include <cstdio>
#include <string>

#include "absl/time/time.h"
#include "cli/admin_port.h"
#include "cli/one_request.h"

namespace levee {
namespace {

// A hook must not delay the end of its pod.
constexpr absl::Duration kPatience = absl::Seconds(2);

}  // namespace

Command AddDrain(Command app, DrainOptions& options) {
  options.address = kDefaultAdminAddress;
  Command drain = app.AddCommand(
      "drain", "send the callers of a running sidecar elsewhere, for preStop hooks of containers");
  AddAdminAddress(drain, options.address);
  drain.Footer(
      "The sidecar stops being ready, and the callers of inbound listeners get GOAWAY. It still "
      "serves calls, also those of its application, until SIGTERM. Exit code 0: the drain has "
      "begun, 1: there was no answer within 2 s.");
  return drain;
}

int RunDrain(const DrainOptions& options) {
  const absl::Status status =
      Ask({.address = options.address, .method = "POST", .path = "/drain?until=signal"}, kPatience);
  if (!status.ok()) {
    std::fprintf(stderr, "levee drain: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  std::printf("draining\n");
  return 0;
}

}  // namespace levee
