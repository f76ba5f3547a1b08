// SPDX-License-Identifier: Apache-2.0
// The command `levee snapshot`: a running sidecar in one file, for others to look at.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cli/admin_port.h"
#include "cli/command_line.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {

struct SnapshotOptions {
  std::string address = kDefaultAdminAddress;
  std::string output;  // a file; empty: standard output
};

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddSnapshot(Command app, SnapshotOptions& options);

// Asks for the state, for the details that the answer leaves out, and for the configuration.
absl::StatusOr<admin::v1::Snapshot> TakeSnapshot(AdminPort& port);

// Writes the snapshot as JSON. Returns the exit code.
int RunSnapshot(const SnapshotOptions& options);

}  // namespace levee
