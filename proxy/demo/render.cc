// SPDX-License-Identifier: Apache-2.0
#include "demo/render.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "demo/picture.h"
#include "demo/table_row.h"

namespace levee::demo {
namespace {

std::string BudgetBar(const BudgetState& budget) {
  constexpr int kWidth = 16;
  const double share = budget.at_once > 0 ? budget.available / budget.at_once : 0;
  const auto filled = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kWidth));
  return absl::StrFormat("budget [%s%s] %.0f of %.0f retries left", std::string(filled, '#'),
                         std::string(kWidth - filled, '.'), budget.available, budget.at_once);
}

std::vector<std::string> DrawRun(const Scene& scene, const RunView& run) {
  if (run.record == nullptr || run.record->empty()) return DrawComing(run.name);
  const Rates now = run.record->Latest(kNow);
  const double full = 3 * scene.calls_per_second;
  const std::string attempts = absl::StrFormat("%.2f attempts per call", now.AttemptsPerCall());
  return Draw(run.name, *run.record,
              {.calls = absl::StrFormat("calls   %5.0f/s", now.calls),
               .upper = {.height = [](const Rates& rates) { return rates.success; },
                         .text = absl::StrCat("success ",
                                              PaintedPercent(now.success, now.success >= 0.99))},
               .lower = {.height = [full](const Rates& rates) { return rates.attempts / full; },
                         .text = absl::StrFormat("load    %5.0f/s of %.0f/s", now.attempts,
                                                 scene.service_per_second)},
               .below = absl::StrCat(run.budget.has_value() ? BudgetBar(*run.budget) : "",
                                     run.budget ? ", " : "", attempts)});
}

std::string LoadText(double attempts, const Scene& scene) {
  return absl::StrFormat("%.0f/s (%.0f%%)", attempts, Percent(attempts / scene.service_per_second));
}

}  // namespace

std::vector<std::string> Frame(const Scene& scene, const std::vector<RunView>& runs) {
  std::vector<std::string> lines = {absl::StrFormat(
      "%.0f calls/s to a service for %.0f/s; in the storm %.0f%% of its answers fail.",
      scene.calls_per_second, scene.service_per_second, Percent(scene.failing))};
  for (const RunView& run : runs) {
    lines.emplace_back();
    const std::vector<std::string> drawn = DrawRun(scene, run);
    lines.insert(lines.end(), drawn.begin(), drawn.end());
  }
  return lines;
}

std::string PlainLine(const RunView& run) {
  const RunRecord& record = *run.record;
  const Rates now = record.Latest(absl::Seconds(1));
  std::string line = absl::StrFormat("%-13s %3.0fs %-8s %3.0f%% ok  load %5.0f/s  %.2f per call",
                                     run.name, absl::ToDoubleSeconds(record.length()),
                                     std::string(PhaseName(record.schedule().At(record.length()))),
                                     Percent(now.success), now.attempts, now.AttemptsPerCall());
  if (run.budget.has_value()) absl::StrAppendFormat(&line, "  budget %.0f", run.budget->available);
  return line;
}

std::vector<std::string> Table(const Scene& scene, const RunRecord& plain, const RunRecord& levee) {
  const Summary a = Summarize(plain);
  const Summary b = Summarize(levee);
  return {
      Row("", "plain clients", "through Levee"),
      Row("load in the storm", LoadText(a.storm_load, scene), LoadText(b.storm_load, scene)),
      Row("load after the fault", LoadText(a.recovery_load, scene),
          LoadText(b.recovery_load, scene)),
      Row("goodput before", PerSecond(a.calm_goodput), PerSecond(b.calm_goodput)),
      Row("goodput in the storm", PerSecond(a.storm_goodput), PerSecond(b.storm_goodput)),
      Row("goodput after the fault", PerSecond(a.recovery_goodput), PerSecond(b.recovery_goodput)),
      Row("amplification", absl::StrFormat("%.2f", a.amplification),
          absl::StrFormat("%.2f", b.amplification)),
      Row("in the worst second", absl::StrFormat("%.2f", a.worst_second),
          absl::StrFormat("%.2f", b.worst_second)),
      Row("recovery time", RecoveryText(plain, a), RecoveryText(levee, b)),
      "",
      "Load is attempts that reach the service, and (%) of what it can do. Goodput is",
      "calls that succeed. Amplification is attempts per call, in the storm and after",
      "it; the budget allows 1.10 over 10 s. Recovery is from the fault's end to 99%",
      "of the goodput before.",
  };
}

}  // namespace levee::demo
