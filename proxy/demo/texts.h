// What the demo says in words.
#pragma once

#include <string>
#include <vector>

#include "demo/schedule.h"
#include "demo/service_model.h"

namespace levee::demo {

// What is about to be run, and what is compared with what.
std::vector<std::string> Introduction(const Schedule& schedule, const Capacity& capacity,
                                      double failing);

// Where to watch Levee while it runs. `page`: HOST:PORT.
std::vector<std::string> PageHint(const std::string& page);

struct Addresses {
  std::string service;
  std::string calls;    // Levee, for gRPC calls.
  std::string metrics;  // Levee, for Prometheus.
  std::string page;     // Levee, for a browser.
  std::string config_file;
};

// What a reader can do with the demo while it stays up.
std::vector<std::string> Invitation(const Addresses& addresses);

}  // namespace levee::demo
