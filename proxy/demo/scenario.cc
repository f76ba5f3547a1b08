// SPDX-License-Identifier: Apache-2.0
#include "demo/scenario.h"

#include "demo/guard_render.h"
#include "demo/render.h"
#include "demo/sidecar_config.h"

namespace levee::demo {

Scenario RetryStorm(double calls_per_second) {
  constexpr double kFailing = 0.5;
  const Capacity capacity = Capacity::For(calls_per_second);
  const Scene scene{.calls_per_second = calls_per_second,
                    .service_per_second = capacity.PerSecond(),
                    .failing = kFailing};
  return {
      .capacity = capacity,
      .load = {.calm_per_second = calls_per_second,
               .storm_per_second = calls_per_second,
               .storm_faults = {.failing = kFailing}},
      .without = {"plain clients", ClientRetries::kThreeAttempts},
      .with = {"through Levee", ClientRetries::kNone},
      .config = CallersConfig,
      .introduction =
          [=](const Schedule& schedule) { return Introduction(schedule, capacity, kFailing); },
      .frame = [=](const std::vector<RunView>& runs) { return Frame(scene, runs); },
      .line = PlainLine,
      .table = [=](const RunRecord& without,
                   const RunRecord& with) { return Table(scene, without, with); },
      .suggestions = {.fault_effect = "Let half of the service's answers fail",
                      .fault = "failing",
                      .metrics = "^levee_(calls|attempts|retr).* [1-9]"},
  };
}

Scenario Overload(double service_per_second) {
  constexpr double kCalm = 0.75;
  constexpr double kStorm = 3;
  const Capacity capacity = Capacity::Of(service_per_second);
  const GuardScene scene{.calm_calls = kCalm * service_per_second,
                         .storm_calls = kStorm * service_per_second,
                         .service = service_per_second};
  return {
      .capacity = capacity,
      .load = {.calm_per_second = scene.calm_calls, .storm_per_second = scene.storm_calls},
      .without = {"without guard", ClientRetries::kThreeAttemptsAlsoIfExhausted},
      .with = {"with guard", ClientRetries::kThreeAttemptsAlsoIfExhausted},
      .config = GuardConfig,
      .introduction =
          [=](const Schedule& schedule) {
            return GuardIntroduction(schedule, capacity, scene.calm_calls, scene.storm_calls);
          },
      .frame = [=](const std::vector<RunView>& runs) { return GuardFrame(scene, runs); },
      .line = GuardLine,
      .table = [=](const RunRecord& without,
                   const RunRecord& with) { return GuardTable(scene, without, with); },
      .suggestions = {.fault_effect = "Halve the service's workers",
                      .fault = "workers_down",
                      .metrics = "^levee_guard.* [1-9]"},
  };
}

}  // namespace levee::demo
