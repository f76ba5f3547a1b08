// SPDX-License-Identifier: Apache-2.0
// The usual process_* metrics of Prometheus clients.
#pragma once

#include <string>
#include <vector>

#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace levee {

// Reads CPU time, memory, file descriptors and start time of this process from the proc file system
// at each scrape. A metric that cannot be read there is left out. Any thread.
class ProcessMetrics : public prometheus::Collectable {
 public:
  // `proc`: the directory where that file system is mounted.
  explicit ProcessMetrics(std::string proc = "/proc");

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::string proc_;
  const double ticks_per_second_;  // the unit of times in /proc/self/stat
};

}  // namespace levee
