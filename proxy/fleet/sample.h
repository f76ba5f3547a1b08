// SPDX-License-Identifier: Apache-2.0
// Values of metrics, as a sidecar or Prometheus tells them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace levee::fleet {

using Labels = std::map<std::string, std::string>;

// One series at one moment.
struct Sample {
  std::string name;
  Labels labels;
  double value = 0;
};

// Returns the value of a label; empty if there is none.
std::string_view LabelOf(const Labels& labels, const std::string& name);

// Reads Prometheus' text format. Lines that are no series are left out, so of a text that is
// something else there are few samples or none.
std::vector<Sample> ReadExposition(std::string_view text);

}  // namespace levee::fleet
