// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cli/input.h"
#include "cli/output.h"
#include "config/check_report.h"
#include "config/load.h"
#include "lab/scenario_load.h"
#include "lab/simulation.h"
#include "lab/simulation_csv.h"
#include "lab/simulation_html.h"
#include "lab/simulation_json.h"
#include "lab/simulation_text.h"

namespace levee {
namespace {

void PrintFaultsAndSummary(const std::vector<Fault>& faults) {
  std::fprintf(stderr, "%s\n%s\n", FormatFaults(faults).c_str(),
               SummaryOf({.faults = faults}).c_str());
}

// Returns the configuration that stands in place of the scenario's; nullptr if there is none.
// Returns nullopt, with the faults on standard error, if it has faults.
std::optional<std::shared_ptr<const Snapshot>> LoadConfig(const std::vector<std::string>& files) {
  if (files.empty()) return nullptr;
  FaultList unread;
  std::vector<ConfigText> texts;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxConfigFileBytes, unread);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  const CheckedConfig checked = CheckConfig(texts, std::nullopt, std::move(unread));
  if (checked.faults.empty()) return checked.snapshot;
  PrintFaultsAndSummary(checked.faults);
  return std::nullopt;
}

std::string Output(const std::string& format, const Simulation& simulation) {
  if (format == "json") return SimulationJson(simulation);
  return format == "csv" ? SimulationCsv(simulation) : SimulationText(simulation);
}

// Returns why there cannot be such a map of the scenario; empty if there can, or none is wanted.
std::string WhyNoMap(const std::vector<std::string>& axes, const Scenario& scenario) {
  if (axes.empty()) return "";
  if (axes[0] == axes[1]) return axes[0] + " is given twice; name two axes";
  for (const std::string& axis : axes) {
    const std::string why = WhyNotVaried(scenario, *MapAxisOf(axis));
    if (!why.empty()) return axis + " cannot be varied, since " + why;
  }
  return "";
}

// Writes a line over the one before, rarely enough for a log.
void ShowProgress(int done, int of) {
  constexpr int kParts = 20;
  if (done != of && done * kParts / of == (done - 1) * kParts / of) return;
  std::fprintf(stderr, "\rlevee simulate: %d of %d runs of the map%s", done, of,
               done == of ? "\n" : "");
}

}  // namespace

int RunSimulate(const SimulateOptions& options) {
  const auto config = LoadConfig(options.config);
  if (!config.has_value()) return 1;
  FaultList unread;
  const std::optional<ConfigText> text = ReadInput(options.scenario, kMaxConfigFileBytes, unread);
  CheckedScenario checked;
  if (text.has_value()) {
    checked = CheckScenario(*text, *config);
  } else {
    checked.faults = unread.Sorted({options.scenario});
  }
  if (!checked.faults.empty()) {
    PrintFaultsAndSummary(checked.faults);
    return 1;
  }
  if (!options.compare.empty()) {
    checked.scenario.compare.clear();
    for (const std::string& name : options.compare) {
      checked.scenario.compare.push_back(*CallerRuleOf(name));
    }
  }
  const std::string refusal = WhyNoMap(options.map, checked.scenario);
  if (!refusal.empty()) {
    std::fprintf(stderr, "levee simulate: --map: %s\n", refusal.c_str());
    return 1;
  }
  Simulation simulation = Simulate(options.scenario, checked.scenario, options.seed, options.seeds);
  if (!options.map.empty()) {
    simulation.map =
        MapStability(checked.scenario, *MapAxisOf(options.map[0]), *MapAxisOf(options.map[1]),
                     RulesOf(checked.scenario), options.seed, ShowProgress);
  }
  std::fputs(Output(options.output, simulation).c_str(), stdout);
  const bool written = options.html.empty() ||
                       WriteOutput("levee simulate", options.html, SimulationHtml(simulation));
  return simulation.ok() && written ? 0 : 1;
}

}  // namespace levee
