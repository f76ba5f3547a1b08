// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_options.h"

#include <string>

#include "config/suggest.h"
#include "lab/caller_rule.h"
#include "lab/stability_map.h"

namespace levee {

Command AddSimulate(Command app, SimulateOptions& options) {
  Command simulate =
      app.AddCommand("simulate", "run a scenario on virtual time, and compare policies in it");
  simulate.AddOption("scenario", options.scenario, "the scenario (YAML); '-' is standard input")
      .ValueName("SCENARIO")
      .Required();
  simulate
      .AddOption("--config", options.config,
                 "policy file of every caller with a sidecar, instead of the scenario's")
      .ValueName("FILE")
      .NamedEachTime();
  simulate.AddOption("--seed", options.seed, "seed of all random choices")
      .ValueName("N")
      .ShowDefault();
  simulate.AddOption("--seeds", options.seeds, "run with this many seeds, and show medians")
      .Within(1, 1000)
      .ValueName("N")
      .ShowDefault();
  simulate
      .AddOption("--compare", options.compare,
                 "rules to compare with, instead of the scenario's: no-sidecar, no-retries, "
                 "plain-3, grpc-a6, envoy-istio, aws-2026")
      .SplitAt(',')
      .Check([](const std::string& name) {
        if (CallerRuleOf(name).has_value()) return std::string();
        return name + " is unknown" + Suggestion(name, CallerRuleNames(), "allowed");
      })
      .ValueName("RULE,...");
  simulate
      .AddOption("--map", options.map,
                 "vary two of load, capacity and for (the length of the faults), and show where "
                 "the system recovers")
      .SplitAt(',')
      .Count(2)
      .Check([](const std::string& name) {
        if (MapAxisOf(name).has_value()) return std::string();
        return name + " is unknown" + Suggestion(name, MapAxisNames(), "allowed");
      })
      .ValueName("X,Y");
  simulate
      .AddOption("-o,--output", options.output,
                 "format of the output: text, json, or csv (second by second)")
      .OneOf({"text", "json", "csv"})
      .ValueName("FORMAT")
      .ShowDefault();
  simulate.AddOption("--html", options.html, "also write the result with pictures to this file")
      .ValueName("OUT");
  return simulate;
}

}  // namespace levee
