// SPDX-License-Identifier: Apache-2.0
// The sentences of the demo.
#pragma once

#include <string>
#include <vector>

#include "demo/schedule.h"
#include "demo/service_model.h"

namespace levee::demo {

// Says what the demo of a retry storm will run, and what it compares.
std::vector<std::string> Introduction(const Schedule& schedule, const Capacity& capacity,
                                      double failing);

// Says the same of the demo of an overload. Calls are per second.
std::vector<std::string> GuardIntroduction(const Schedule& schedule, const Capacity& capacity,
                                           double calm_calls, double storm_calls);

// Says where to watch Levee while it runs. `page`: HOST:PORT.
std::vector<std::string> PageHint(const std::string& page);

struct Addresses {
  std::string faults;   // The switch for the service's faults.
  std::string calls;    // Levee, for gRPC calls.
  std::string metrics;  // Levee, for Prometheus.
  std::string page;     // Levee, for a browser.
  std::string config_file;
  std::string program;  // Levee's, as the reader calls it.
};

// The parts of the invitation that each demo has of its own.
struct Suggestions {
  std::string fault_effect;  // "Let half of the service's answers fail"
  std::string fault;         // The fault of FaultShares that does so, with a share of 0.5.
  std::string metrics;       // An expression for grep: the metrics to watch.
};

// Says what a reader can do with the demo while it stays up.
std::vector<std::string> Invitation(const Addresses& addresses, const Suggestions& suggestions);

}  // namespace levee::demo
