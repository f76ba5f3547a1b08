// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_csv.h"

#include "absl/strings/str_cat.h"

namespace levee {

std::string SimulationCsv(const Simulation& simulation) {
  std::string text = "policy,second,requests,attempts,answers,queue\n";
  for (const SimulatedRule& rule : simulation.rules) {
    const RunTimeline& timeline = rule.timeline;
    for (size_t i = 0; i < timeline.requests.size(); ++i) {
      absl::StrAppend(&text, rule.name, ",", i, ",", timeline.requests[i], ",",
                      timeline.attempts[i], ",", timeline.answers[i], ",", timeline.queue[i], "\n");
    }
  }
  return text;
}

}  // namespace levee
