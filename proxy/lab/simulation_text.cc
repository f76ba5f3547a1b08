// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/text_layout.h"
#include "lab/words.h"

namespace levee {
namespace {

constexpr size_t kColumns = 80;

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

void AppendRules(const Simulation& simulation, std::string& text) {
  size_t width = 0;
  for (const SimulatedRule& rule : simulation.rules) width = std::max(width, rule.name.size());
  const auto name = [width](const std::string& of) {
    return of + std::string(width - std::min(width, of.size()), ' ');
  };
  std::vector<std::vector<std::string>> rows = {{name("policy"), "per call", "worst", "success",
                                                 "load/s", "good/s", "back in", "p50", "p99"}};
  for (const SimulatedRule& rule : simulation.rules) {
    const RunFigures& figures = rule.figures;
    rows.push_back({name(rule.name), TwoDigits(figures.amplification),
                    TwoDigits(figures.worst_second),
                    absl::StrFormat("%.4g%%", 100 * figures.success),
                    absl::StrFormat("%.0f", figures.load), absl::StrFormat("%.0f", figures.goodput),
                    Recovery(figures), Time(figures.p50_s), Time(figures.p99_s)});
  }
  AppendTable(rows, /*numbers=*/true, text);
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

}  // namespace

std::string SimulationText(const Simulation& simulation) {
  const std::string seeds =
      simulation.seeds == 1
          ? absl::StrCat("seed ", simulation.first_seed)
          : absl::StrCat("medians of the seeds ", simulation.first_seed, " to ",
                         simulation.first_seed + static_cast<uint64_t>(simulation.seeds) - 1);
  std::string text =
      absl::StrCat(simulation.name, ": ", DurationWords(simulation.duration), ", ", seeds, "\n");
  AppendSentences({simulation.verdict}, kColumns, text);
  absl::StrAppend(&text, "\n");
  AppendRules(simulation, text);
  for (const SimulatedRule& rule : simulation.rules) {
    if (simulation.seeds == 1 || rule.stuck == 0) continue;
    absl::StrAppend(&text, "  ", rule.name, " is stuck with ", rule.stuck, " of ", simulation.seeds,
                    " seeds\n");
  }
  if (!simulation.expectations.empty()) absl::StrAppend(&text, "\n");
  for (const SimulatedExpectation& expectation : simulation.expectations) {
    absl::StrAppend(&text, expectation.ok ? "  ok    " : "  FAIL  ", expectation.text, ": ",
                    ValueWords(expectation), "\n");
  }
  return text;
}

}  // namespace levee
