// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_options.h"

#include <string>

#include "config/suggest.h"
#include "lab/caller_rule.h"
#include "lab/stability_map.h"

namespace levee {

CLI::App* AddSimulate(CLI::App& app, SimulateOptions& options) {
  CLI::App* simulate =
      app.add_subcommand("simulate", "run a scenario on virtual time, and compare policies in it");
  simulate->add_option("scenario", options.scenario, "the scenario (YAML), '-': standard input")
      ->type_name("SCENARIO")
      ->required();
  simulate
      ->add_option("--config", options.config,
                   "policy file of every caller that has a sidecar, in place of the scenario's")
      ->type_name("FILE")
      ->allow_extra_args(false);
  simulate->add_option("--seed", options.seed, "of what is random")
      ->type_name("N")
      ->capture_default_str();
  simulate->add_option("--seeds", options.seeds, "run with so many seeds, and show medians")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  simulate
      ->add_option("--compare", options.compare,
                   "rules to run beside, in place of the scenario's: no-sidecar, no-retries, "
                   "plain-3, grpc-a6, envoy-istio, aws-2026")
      ->delimiter(',')
      ->check([](const std::string& name) {
        if (CallerRuleOf(name).has_value()) return std::string();
        return name + " is unknown" + Suggestion(name, CallerRuleNames(), "allowed");
      })
      ->type_name("RULE,...");
  simulate
      ->add_option("--map", options.map,
                   "vary two of load, capacity and for (the length of the faults), and show where "
                   "the system recovers")
      ->delimiter(',')
      ->expected(2)
      ->check([](const std::string& name) {
        if (MapAxisOf(name).has_value()) return std::string();
        return name + " is unknown" + Suggestion(name, MapAxisNames(), "allowed");
      })
      ->type_name("X,Y");
  simulate
      ->add_option("-o,--output", options.output,
                   "how it is printed: text, json or csv (second by second)")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  simulate->add_option("--html", options.html, "write it to this file as well, with pictures")
      ->type_name("OUT");
  return simulate;
}

}  // namespace levee
