// SPDX-License-Identifier: Apache-2.0
// The configuration of a sidecar whose policies are drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "call/random_policy.h"

namespace levee::ledger {

// Where the sidecar finds things.
struct Places {
  std::vector<std::string> endpoints;  // of services that the application calls
  std::string application;
  std::string nowhere;  // of stores and limit services: nobody is there
  std::string access_log;
};

class RandomConfig {
 public:
  RandomConfig(uint64_t seed, Places places);

  // Returns the text of another configuration: with the same listeners, "egress" and "inbound", and
  // limits, and with other policies, as a reload brings them.
  std::string Next();

 private:
  std::string Upstreams() const;
  std::string Routes() const;
  std::string Policy(size_t number) const;

  Random random_;
  const Draws draws_{[this](uint64_t bound) { return random_.Below(bound); },
                     [this] { return random_.Uniform(); }};
  const Places places_;
  const std::string limits_;
};

}  // namespace levee::ledger
