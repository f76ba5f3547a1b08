// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_cells.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/words.h"

namespace levee {
namespace {

// Returns the time with three digits, as the table has room for.
std::string Time(std::optional<double> seconds) {
  if (!seconds.has_value()) return "-";
  return *seconds < 1 ? absl::StrFormat("%.3gms", *seconds * 1e3)
                      : absl::StrFormat("%.3gs", *seconds);
}

std::string Recovery(const RunFigures& figures) {
  if (figures.state == RunFigures::State::kStuck) return "stuck";
  return figures.recovery_s.has_value() ? absl::StrFormat("%.3gs", *figures.recovery_s) : "-";
}

}  // namespace

std::vector<std::string> SimulationHead() {
  return {"policy", "per call", "worst", "success", "load/s", "good/s", "back in", "p50", "p99"};
}

std::vector<std::vector<std::string>> SimulationCells(const Simulation& simulation) {
  std::vector<std::vector<std::string>> rows;
  for (const SimulatedRule& rule : simulation.rules) {
    const RunFigures& figures = rule.figures;
    rows.push_back({rule.name, TwoDigits(figures.amplification), TwoDigits(figures.worst_second),
                    absl::StrFormat("%.4g%%", 100 * figures.success),
                    absl::StrFormat("%.0f", figures.load), absl::StrFormat("%.0f", figures.goodput),
                    Recovery(figures), Time(figures.p50_s), Time(figures.p99_s)});
  }
  return rows;
}

std::vector<std::string> ShadowHead() {
  std::vector<std::string> head = {"shadow", "beside", "calls of"};
  for (int i = 0; i < kShadowOutcomes; ++i) {
    head.emplace_back(ShadowOutcomeName(static_cast<ShadowOutcome>(i)));
  }
  return head;
}

std::vector<std::vector<std::string>> ShadowCells(const Simulation& simulation) {
  std::vector<std::vector<std::string>> rows;
  for (const ShadowRecord& shadow : simulation.shadows) {
    auto& row = rows.emplace_back();
    row = {shadow.shadow, shadow.policy, shadow.caller};
    for (const int64_t calls : shadow.calls) row.push_back(absl::StrCat(calls));
  }
  return rows;
}

std::string RunWords(const Simulation& simulation) {
  const uint64_t last = simulation.first_seed + static_cast<uint64_t>(simulation.seeds) - 1;
  return absl::StrCat(DurationWords(simulation.duration), ", ",
                      simulation.seeds == 1 ? absl::StrCat("seed ", last)
                                            : absl::StrCat("medians of the seeds ",
                                                           simulation.first_seed, " to ", last));
}

std::string ValueWords(const SimulatedExpectation& expectation) {
  if (!expectation.value.has_value()) return "it is never so";
  const double value = *expectation.value;
  const std::string& text = expectation.text;
  if (text.starts_with("success")) return PercentWords(value);
  if (text.starts_with("goodput")) return absl::StrCat(NumberWords(value), "/s");
  if (text.starts_with("amplification")) return TwoDigits(value);
  return DurationWords(absl::Seconds(value));
}

}  // namespace levee
