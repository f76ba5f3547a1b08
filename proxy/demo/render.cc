// SPDX-License-Identifier: Apache-2.0
#include "demo/render.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace levee::demo {
namespace {

constexpr int kCells = 44;  // Of a run's picture.
constexpr absl::Duration kNow = absl::Milliseconds(700);

constexpr absl::string_view kBold = "\x1b[1m";
constexpr absl::string_view kDim = "\x1b[2m";
constexpr absl::string_view kRed = "\x1b[31m";
constexpr absl::string_view kGreen = "\x1b[32m";
constexpr absl::string_view kPlain = "\x1b[0m";

std::string Paint(absl::string_view style, absl::string_view text) {
  return absl::StrCat(style, text, kPlain);
}

absl::string_view Name(Phase phase) {
  const std::string_view name = PhaseName(phase);
  return {name.data(), name.size()};
}

double Percent(double share) { return 100 * share; }

// Returns one column, filled to `share` of its height.
absl::string_view Column(double share) {
  constexpr absl::string_view kColumns[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const long step = std::lround(std::clamp(share, 0.0, 1.0) * 7);
  return kColumns[step];
}

// Returns the run so far as columns from left to right. `share` maps rates to a height.
template <typename Share>
std::string Picture(const RunRecord& record, const Share& share) {
  std::string picture;
  const absl::Duration width = record.schedule().length() / kCells;
  for (int cell = 0; cell < kCells; ++cell) {
    const absl::Duration end = (cell + 1) * width;
    const bool known = end <= record.length();
    absl::StrAppend(&picture, known ? Column(share(record.Over(end - width, end))) : " ");
  }
  return picture;
}

// Returns the phases' names above their parts of the picture.
std::string Ruler(const Schedule& schedule) {
  std::string ruler;
  int begin = 0;
  absl::Duration end = absl::ZeroDuration();
  for (const auto& [phase, length] : {std::pair{Phase::kCalm, schedule.calm},
                                      {Phase::kStorm, schedule.storm},
                                      {Phase::kRecovery, schedule.recovery}}) {
    end += length;
    const int cell =
        static_cast<int>(std::lround(absl::FDivDuration(end, schedule.length()) * kCells));
    const auto width = static_cast<size_t>(cell - begin);
    std::string part(Name(phase).substr(0, width));
    while (part.size() < width) part += part.size() + 1 < width ? '-' : ' ';
    absl::StrAppend(&ruler, Paint(phase == Phase::kStorm ? kRed : kDim, part));
    begin = cell;
  }
  return ruler;
}

std::string BudgetBar(const BudgetState& budget) {
  constexpr int kWidth = 16;
  const double share = budget.limit > 0 ? budget.available / budget.limit : 0;
  const auto filled = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kWidth));
  return absl::StrFormat("budget [%s%s] %.0f of %.0f retries left", std::string(filled, '#'),
                         std::string(kWidth - filled, '.'), budget.available, budget.limit);
}

void AppendRun(const Scene& scene, const RunView& run, std::vector<std::string>& lines) {
  constexpr absl::string_view kIndent = "  ";
  lines.push_back(Paint(kBold, run.name));
  if (run.record == nullptr || run.record->empty()) {
    lines.insert(lines.end(), {absl::StrCat(kIndent, Paint(kDim, "comes next")), "", "", ""});
    return;
  }
  const RunRecord& record = *run.record;
  const Rates now = record.Latest(kNow);
  lines.push_back(absl::StrCat(kIndent, Ruler(record.schedule()),
                               absl::StrFormat("  calls   %5.0f/s", now.calls)));
  const std::string success = absl::StrFormat("%4.0f%%", Percent(now.success));
  lines.push_back(absl::StrCat(kIndent,
                               Picture(record, [](const Rates& rates) { return rates.success; }),
                               "  success ", Paint(now.success >= 0.99 ? kGreen : kRed, success)));
  const double full = 3 * scene.calls_per_second;
  lines.push_back(absl::StrCat(
      kIndent, Picture(record, [full](const Rates& rates) { return rates.attempts / full; }),
      absl::StrFormat("  load    %5.0f/s of %.0f/s", now.attempts, scene.service_per_second)));
  const std::string attempts = absl::StrFormat("%.2f attempts per call", now.AttemptsPerCall());
  lines.push_back(absl::StrCat(kIndent, run.budget.has_value() ? BudgetBar(*run.budget) : "",
                               run.budget ? ", " : "", attempts));
}

std::string Row(absl::string_view what, absl::string_view plain, absl::string_view levee) {
  return absl::StrFormat("%-24s %18s %18s", what, plain, levee);
}

std::string PerSecond(double rate) { return absl::StrFormat("%.0f/s", rate); }

std::string Load(double attempts, const Scene& scene) {
  return absl::StrFormat("%.0f/s (%.0f%%)", attempts, Percent(attempts / scene.service_per_second));
}

std::string RecoveryText(const RunRecord& record, const Summary& summary) {
  if (summary.recovery.has_value()) {
    return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(*summary.recovery));
  }
  return absl::StrFormat("not within %.1f s",
                         absl::ToDoubleSeconds(record.length() - record.schedule().storm_end()));
}

}  // namespace

std::vector<std::string> Frame(const Scene& scene, const std::vector<RunView>& runs) {
  std::vector<std::string> lines = {absl::StrFormat(
      "%.0f calls/s to a service for %.0f/s; in the storm %.0f%% of its answers fail.",
      scene.calls_per_second, scene.service_per_second, Percent(scene.failing))};
  for (const RunView& run : runs) {
    lines.emplace_back();
    AppendRun(scene, run, lines);
  }
  return lines;
}

std::string PlainLine(const RunView& run) {
  const RunRecord& record = *run.record;
  const Rates now = record.Latest(absl::Seconds(1));
  std::string line = absl::StrFormat("%-13s %3.0fs %-8s %3.0f%% ok  load %5.0f/s  %.2f per call",
                                     run.name, absl::ToDoubleSeconds(record.length()),
                                     Name(record.schedule().At(record.length())),
                                     Percent(now.success), now.attempts, now.AttemptsPerCall());
  if (run.budget.has_value()) absl::StrAppendFormat(&line, "  budget %.0f", run.budget->available);
  return line;
}

std::vector<std::string> Table(const Scene& scene, const RunRecord& plain, const RunRecord& levee) {
  const Summary a = Summarize(plain);
  const Summary b = Summarize(levee);
  return {
      Row("", "plain clients", "through Levee"),
      Row("load in the storm", Load(a.storm_load, scene), Load(b.storm_load, scene)),
      Row("load after the fault", Load(a.recovery_load, scene), Load(b.recovery_load, scene)),
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
