// SPDX-License-Identifier: Apache-2.0
// Scenarios that tests write.
#pragma once

#include <string>

#include "config/fault.h"
#include "gtest/gtest.h"
#include "lab/scenario_load.h"

namespace levee {

// A client and a service with room enough, and what a test adds.
constexpr char kWebAndCart[] =
    "duration: 60s\n"
    "clients: [{name: web, sidecar: none, calls: cart/Add, load: {poisson: 500/s}}]\n"
    "services: [{name: cart, slots: 1000, time: 1ms}]\n";

// The scenario of a text in a file called s.
inline Scenario ScenarioOf(const std::string& text) {
  CheckedScenario checked = CheckScenario({"s", text}, nullptr);
  EXPECT_EQ(FormatFaults(checked.faults), "") << text;
  return std::move(checked.scenario);
}

// Its faults, one per line.
inline std::string ScenarioFaults(const std::string& text) {
  return FormatFaults(CheckScenario({"s", text}, nullptr).faults);
}

}  // namespace levee
