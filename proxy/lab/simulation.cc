// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lab/scenario_run.h"
#include "lab/words.h"

namespace levee {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Figures without a value are above all others.
std::optional<double> MedianOf(const std::vector<RunFigures>& runs,
                               std::optional<double> RunFigures::*figure) {
  std::vector<double> values;
  for (const RunFigures& run : runs) values.push_back((run.*figure).value_or(kNever));
  const double median = Median(values);
  return median == kNever ? std::nullopt : std::optional(median);
}

double MedianOf(const std::vector<RunFigures>& runs, double RunFigures::*figure) {
  std::vector<double> values;
  for (const RunFigures& run : runs) values.push_back(run.*figure);
  return Median(values);
}

void Summarize(CallerRule rule, const std::vector<RunFigures>& runs, SimulatedRule& row) {
  using State = RunFigures::State;
  row.name = NameOf(rule);
  row.figures.amplification = MedianOf(runs, &RunFigures::amplification);
  row.figures.worst_second = MedianOf(runs, &RunFigures::worst_second);
  row.figures.success = MedianOf(runs, &RunFigures::success);
  row.figures.load = MedianOf(runs, &RunFigures::load);
  row.figures.goodput = MedianOf(runs, &RunFigures::goodput);
  row.figures.recovery_s = MedianOf(runs, &RunFigures::recovery_s);
  row.figures.p50_s = MedianOf(runs, &RunFigures::p50_s);
  row.figures.p99_s = MedianOf(runs, &RunFigures::p99_s);
  row.stuck = static_cast<int>(std::count_if(
      runs.begin(), runs.end(), [](const RunFigures& run) { return run.state == State::kStuck; }));
  row.figures.state = runs.front().state == State::kUndisturbed ? State::kUndisturbed
                      : row.figures.recovery_s.has_value()      ? State::kRecovered
                                                                : State::kStuck;
}

// Keeps what the pictures show of a run.
void Picture(const Scenario& scenario, const RunRecord& record, SimulatedRule& rule) {
  rule.timeline = record.Timeline();
  for (size_t i = 0; i < scenario.services.size(); ++i) {
    rule.layers.push_back(record.Amplification(i));
  }
  rule.latencies = record.Percentiles();
}

// Adds what the run says of the expectation to what other seeds have said.
void Judge(const ScenarioExpectation& expectation, const RunRecord& record,
           SimulatedExpectation& judged) {
  const std::optional<double> value = record.ValueOf(expectation);
  const bool ok = value.has_value() && expectation.Holds(*value);
  const bool small_is_good = expectation.relation == ScenarioExpectation::Relation::kLess ||
                             expectation.relation == ScenarioExpectation::Relation::kAtMost;
  const bool first = judged.text.empty();
  judged.text = expectation.text;
  judged.ok = ok && (first || judged.ok);
  if (first || !value.has_value()) {
    judged.value = value;
  } else if (judged.value.has_value()) {
    judged.value =
        small_is_good ? std::max(*judged.value, *value) : std::min(*judged.value, *value);
  }
}

// Adds the counts of another seed, whose sidecars are the same.
void AddShadows(const std::vector<ShadowRecord>& of, std::vector<ShadowRecord>& sums) {
  if (sums.empty()) {
    sums = of;
    return;
  }
  for (size_t i = 0; i < of.size(); ++i) {
    for (size_t each = 0; each < of[i].calls.size(); ++each) {
      sums[i].calls[each] += of[i].calls[each];
    }
  }
}

std::string HowItEnds(const SimulatedRule& rule) {
  const RunFigures& figures = rule.figures;
  const std::string sent = absl::StrCat(TwoDigits(figures.amplification), " attempts per call");
  switch (figures.state) {
    case RunFigures::State::kUndisturbed:
      return absl::StrCat("Of the requests ", PercentWords(figures.success), " succeed, with ",
                          sent, ".");
    case RunFigures::State::kRecovered:
      return absl::StrCat("The system recovers ",
                          *figures.recovery_s > 0
                              ? absl::StrCat(DurationWords(absl::Seconds(*figures.recovery_s)),
                                             " after the trouble ends")
                              : "as the trouble ends",
                          ", with ", sent, ".");
    case RunFigures::State::kStuck:
      return absl::StrCat("The system does not recover while it is watched, with ", sent, ".");
  }
  return "";
}

std::string Verdict(const Simulation& simulation) {
  std::string verdict = HowItEnds(simulation.rules.back());
  std::vector<std::string> stuck;
  for (size_t i = 0; i + 1 < simulation.rules.size(); ++i) {
    const SimulatedRule& rule = simulation.rules[i];
    if (rule.figures.state == RunFigures::State::kStuck) stuck.push_back(rule.name);
  }
  if (!stuck.empty()) absl::StrAppend(&verdict, " It stays stuck under ", ListWords(stuck), ".");
  const auto failed = std::count_if(simulation.expectations.begin(), simulation.expectations.end(),
                                    [](const SimulatedExpectation& each) { return !each.ok; });
  if (failed > 0) {
    absl::StrAppend(&verdict, " Of ", simulation.expectations.size(), " expectations ", failed,
                    failed == 1 ? " fails." : " fail.");
  }
  return verdict;
}

}  // namespace

bool Simulation::ok() const {
  return std::all_of(expectations.begin(), expectations.end(),
                     std::mem_fn(&SimulatedExpectation::ok));
}

std::vector<CallerRule> RulesOf(const Scenario& scenario) {
  std::vector<CallerRule> rules;
  for (const CallerRule rule : scenario.compare) {
    const bool known = std::find(rules.begin(), rules.end(), rule) != rules.end();
    if (!known && rule != CallerRule::kThis) rules.push_back(rule);
  }
  rules.push_back(CallerRule::kThis);
  return rules;
}

Simulation Simulate(const std::string& name, const Scenario& scenario, uint64_t first_seed,
                    int seeds) {
  Simulation simulation{
      .name = name, .duration = scenario.duration, .first_seed = first_seed, .seeds = seeds};
  simulation.trouble = scenario.Trouble();
  for (const ScenarioService& service : scenario.services) {
    simulation.services.push_back(service.name);
  }
  simulation.expectations.resize(scenario.expect.size());
  for (const CallerRule rule : RulesOf(scenario)) {
    std::vector<RunFigures> runs;
    SimulatedRule pictured;
    for (int i = 0; i < seeds; ++i) {
      const RunRecord record = RunScenario(scenario, rule, first_seed + static_cast<uint64_t>(i));
      runs.push_back(record.Figures());
      if (i == 0) Picture(scenario, record, pictured);
      if (rule != CallerRule::kThis) continue;
      AddShadows(record.shadows(), simulation.shadows);
      for (size_t each = 0; each < scenario.expect.size(); ++each) {
        Judge(scenario.expect[each], record, simulation.expectations[each]);
      }
    }
    Summarize(rule, runs, pictured);
    simulation.rules.push_back(std::move(pictured));
  }
  simulation.verdict = Verdict(simulation);
  return simulation;
}

}  // namespace levee
