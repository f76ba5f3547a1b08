// SPDX-License-Identifier: Apache-2.0
// The command `levee fleet`: who calls whom, and which layer multiplies the load.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/command_line.h"
#include "fleet/report.h"

namespace levee {

struct FleetOptions {
  std::vector<std::string> sidecars;  // [NAME=]HOST:PORT of their metrics
  absl::Duration interval = absl::Seconds(5);
  bool since_start = false;
  std::string prometheus;  // a URL; empty: the sidecars are asked
  absl::Duration range = absl::Minutes(5);
  std::string by;                  // a label; empty: that of ApplicationOfTarget
  std::vector<std::string> joins;  // UPSTREAM=NAME
  double bound = fleet::kDefaultBound;
  std::string output = "text";  // or "json"
  std::string html;             // a file to write the result to as well; empty: none
};

// Defines the command below `app`. Parsing writes into `options`.
Command AddFleet(Command app, FleetOptions& options);

// Asks the sidecars, or Prometheus, and prints the result on standard output. Returns the exit
// code.
int RunFleet(const FleetOptions& options);

}  // namespace levee
