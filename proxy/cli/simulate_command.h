// SPDX-License-Identifier: Apache-2.0
// The command `levee simulate`: what a policy does in a scenario, on virtual time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace levee {

struct SimulateOptions {
  std::string scenario;             // a file; "-": standard input
  std::vector<std::string> config;  // policy files in place of those of the scenario
  uint64_t seed = 1;
  int seeds = 1;
  std::vector<std::string> compare;  // names of rules, in place of those of the scenario
  std::vector<std::string> map;      // names of two axes; empty: no map
  std::string output = "text";       // "json", or "csv"
  std::string html;                  // a file to write the result to as well; empty: none
};

// Prints the result on standard output. If a file has faults, it prints these on standard error, as
// `levee check` does. Returns the exit code: 1 also if an expectation fails.
int RunSimulate(const SimulateOptions& options);

}  // namespace levee
