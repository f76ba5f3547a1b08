// SPDX-License-Identifier: Apache-2.0
// The sentences of the demo.
#pragma once

#include <string>
#include <vector>

#include "demo/schedule.h"
#include "demo/service_model.h"

namespace levee::demo {

// Says what the demo will run, and what it compares.
std::vector<std::string> Introduction(const Schedule& schedule, const Capacity& capacity,
                                      double failing);

// Says where to watch Levee while it runs. `page`: HOST:PORT.
std::vector<std::string> PageHint(const std::string& page);

struct Addresses {
  std::string faults;   // The switch for the service's faults.
  std::string calls;    // Levee, for gRPC calls.
  std::string metrics;  // Levee, for Prometheus.
  std::string page;     // Levee, for a browser.
  std::string config_file;
};

// Says what a reader can do with the demo while it stays up.
std::vector<std::string> Invitation(const Addresses& addresses);

}  // namespace levee::demo
