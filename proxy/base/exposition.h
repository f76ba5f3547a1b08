// SPDX-License-Identifier: Apache-2.0
// Reads metrics in the text format of Prometheus.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace levee {

using MetricLabels = std::map<std::string, std::string>;

// One series at one moment.
struct MetricSample {
  std::string name;
  MetricLabels labels;
  double value = 0;
};

// Returns the value of a label; empty if there is none.
std::string_view LabelOf(const MetricLabels& labels, const std::string& name);

// Returns the series of the text. Lines that are none are left out, so of a text that is something
// else there are few or none.
std::vector<MetricSample> ReadExposition(std::string_view text);

}  // namespace levee
