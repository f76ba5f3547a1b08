// SPDX-License-Identifier: Apache-2.0
// What a demo shows: the same load twice, first without Levee and then with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "demo/clients.h"
#include "demo/load_run.h"
#include "demo/picture.h"
#include "demo/service_model.h"
#include "demo/texts.h"

namespace levee::demo {

struct Scenario {
  using Lines = std::vector<std::string>;

  struct Run {
    std::string name;
    ClientRetries retries = ClientRetries::kNone;
  };

  Capacity capacity;
  Load load;
  Run without;
  Run with;
  // Returns the sidecar's configuration.
  std::function<std::string(const std::string& service_address)> config;
  // Says what will run, and what is compared.
  std::function<Lines(const Schedule& schedule)> introduction;
  std::function<Lines(const std::vector<RunView>& runs)> frame;
  std::function<std::string(const RunView& run)> line;
  std::function<Lines(const RunRecord& without, const RunRecord& with)> table;
  Suggestions suggestions;
};

// A service some of whose answers fail for a while: its callers retry by themselves, or leave it to
// Levee.
Scenario RetryStorm(double calls_per_second);

// A service that can do `service_per_second` and gets three times that for a while: its callers
// reach it directly, or through a guard.
Scenario Overload(double service_per_second);

}  // namespace levee::demo
