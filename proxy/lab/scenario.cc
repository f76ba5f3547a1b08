// SPDX-License-Identifier: Apache-2.0
#include "lab/scenario.h"

#include <algorithm>

namespace levee {

double ScenarioClient::RateAt(absl::Duration at) const {
  double rate = per_second;
  for (const ScenarioStep& step : steps) {
    if (step.at <= at && at < step.at + step.span) rate = step.per_second;
  }
  return rate;
}

bool ScenarioExpectation::Holds(double value) const {
  switch (relation) {
    case Relation::kLess:
      return value < bound;
    case Relation::kAtMost:
      return value <= bound;
    case Relation::kAtLeast:
      return value >= bound;
    case Relation::kMore:
      return value > bound;
  }
  return false;
}

std::optional<Scenario::Span> Scenario::Trouble() const {
  std::optional<Span> trouble;
  const auto add = [&trouble](absl::Duration at, absl::Duration span) {
    if (!trouble.has_value()) trouble = {at, at + span};
    trouble->begin = std::min(trouble->begin, at);
    trouble->end = std::max(trouble->end, at + span);
  };
  for (const ScenarioFault& fault : faults) add(fault.at, fault.span);
  for (const ScenarioClient& client : clients) {
    for (const ScenarioStep& step : client.steps) add(step.at, step.span);
  }
  return trouble;
}

}  // namespace levee
