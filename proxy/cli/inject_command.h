// SPDX-License-Identifier: Apache-2.0
// The command `levee inject`: puts Levee into the workloads of Kubernetes manifests.
#pragma once

#include <string>

#include "cli/command_line.h"
#include "inject/sidecar_yaml.h"

namespace levee {

struct InjectCommandOptions {
  std::string file;  // "-": standard input
  bool remove = false;
  inject::InjectOptions inject;
};

// Defines the command below `app`. Parsing writes into `options`.
Command AddInject(Command app, InjectCommandOptions& options);

// Prints the manifests with Levee, or without it, on standard output, and notes on standard error.
// If a workload cannot have Levee, prints nothing but the reasons, on standard error. Returns the
// exit code.
int RunInject(const InjectCommandOptions& options);

}  // namespace levee
