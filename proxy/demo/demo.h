// SPDX-License-Identifier: Apache-2.0
// The command `levee demo`: a service in trouble, clients, and Levee between them, with real calls.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "demo/schedule.h"

namespace levee::demo {

inline constexpr absl::Duration kShortestDemo = Schedule::kShortest;
inline constexpr absl::Duration kLongestDemo = absl::Minutes(10);

// With a smaller service, the calls that a guard lets in at first take longer than the service has
// time for, and all fail.
inline constexpr double kLeastGuardedRate = 200;

struct DemoOptions {
  // From start to exit, unless `stay` is set. From kShortestDemo to kLongestDemo.
  absl::Duration duration = absl::Seconds(28);
  // Keeps service and sidecar running afterwards until Ctrl-C, if standard output is a terminal.
  bool stay = false;
  // The program that runs the sidecar; by default this one.
  std::string levee_binary = "/proc/self/exe";
  // Calls of the clients; with `guard` what the service can do, at least kLeastGuardedRate.
  double per_second = 400;
  // How the reader called this program, for commands to type.
  std::string called_as = "levee";
  // Shows an overload without and with a guard, instead of a retry storm.
  bool guard = false;
};

// Runs the demo and shows it on standard output. Returns the exit code: 0 after its end, 1 if it
// could not be run (the reason is on stderr), 2 for a duration or rate out of bounds, 130 when it
// was interrupted before its end.
int RunDemo(const DemoOptions& options);

}  // namespace levee::demo
