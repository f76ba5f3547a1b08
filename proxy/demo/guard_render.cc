// SPDX-License-Identifier: Apache-2.0
#include "demo/guard_render.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "demo/table_row.h"

namespace levee::demo {
namespace {

std::string GuardText(const GuardState& guard) {
  return absl::StrFormat("the guard lets in %.0f at a time; %.0f are in, %.0f wait", guard.limit,
                         guard.in_flight, guard.waiting);
}

std::vector<std::string> DrawRun(const GuardScene& scene, const RunView& run) {
  if (run.record == nullptr || run.record->empty()) return DrawComing(run.name);
  const Rates now = run.record->Latest(kNow);
  const auto guard = run.record->LatestGuard();
  return Draw(
      run.name, *run.record,
      {.calls = absl::StrFormat("calls   %5.0f/s", now.calls),
       .upper = {.height = [scene](const Rates& rates) { return rates.ok / scene.service; },
                 .text = absl::StrFormat("good    %5.0f/s", now.ok)},
       .lower = {.height =
                     [scene](const Rates& rates) {
                       return rates.attempts / (3 * scene.storm_calls);
                     },
                 .text = absl::StrFormat("load    %5.0f/s of %.0f/s", now.attempts, scene.service)},
       .below = guard.has_value()
                    ? GuardText(*guard)
                    : absl::StrFormat("%.2f attempts per call", now.AttemptsPerCall())});
}

// The figures of a run in the storm.
struct Storm {
  double goodput = 0;
  double attempts = 0;  // By callers.
  double load = 0;      // Attempts that reached the service.
  double attempts_per_call = 0;
  std::string p50;
  std::string p99;
  std::string refused;
};

std::string Milliseconds(std::optional<absl::Duration> time) {
  if (!time.has_value()) return "no good call";
  return absl::StrFormat("%d ms", absl::ToInt64Milliseconds(*time));
}

Storm StormOf(const RunRecord& record) {
  const absl::Duration begin = record.schedule().calm;
  const absl::Duration end = record.schedule().storm_end();
  const Rates rates = record.Over(begin, end);
  const auto guard = record.GuardOver(begin, end);
  const double attempts = guard.has_value() ? guard->attempts : rates.attempts;
  return {.goodput = rates.ok,
          .attempts = attempts,
          .load = rates.attempts,
          .attempts_per_call = rates.calls > 0 ? attempts / rates.calls : 0,
          .p50 = Milliseconds(record.storm_times().Percentile(0.5)),
          .p99 = Milliseconds(record.storm_times().Percentile(0.99)),
          .refused = guard.has_value() ? PerSecond(guard->refused) : "-"};
}

}  // namespace

std::vector<std::string> GuardFrame(const GuardScene& scene, const std::vector<RunView>& runs) {
  std::vector<std::string> lines = {
      absl::StrFormat("%.0f calls/s to a service for %.0f/s; in the storm %.0f calls/s.",
                      scene.calm_calls, scene.service, scene.storm_calls)};
  for (const RunView& run : runs) {
    lines.emplace_back();
    const std::vector<std::string> drawn = DrawRun(scene, run);
    lines.insert(lines.end(), drawn.begin(), drawn.end());
  }
  return lines;
}

std::string GuardLine(const RunView& run) {
  const RunRecord& record = *run.record;
  const Rates now = record.Latest(absl::Seconds(1));
  std::string line = absl::StrFormat("%-13s %3.0fs %-8s calls/s %5.0f  good %5.0f  load %5.0f",
                                     run.name, absl::ToDoubleSeconds(record.length()),
                                     std::string(PhaseName(record.schedule().At(record.length()))),
                                     now.calls, now.ok, now.attempts);
  const auto guard = record.LatestGuard();
  if (guard.has_value()) absl::StrAppendFormat(&line, "  limit %.0f", guard->limit);
  return line;
}

std::vector<std::string> GuardTable(const GuardScene& scene, const RunRecord& without,
                                    const RunRecord& with) {
  const Summary whole_a = Summarize(without), whole_b = Summarize(with);
  const Storm a = StormOf(without), b = StormOf(with);
  const auto share = [&](double rate) {
    return absl::StrFormat("%.0f/s (%.0f%%)", rate, Percent(rate / scene.service));
  };
  return {
      Row("", "without a guard", "with a guard"),
      Row("goodput before", PerSecond(whole_a.calm_goodput), PerSecond(whole_b.calm_goodput)),
      Row("goodput in the storm", share(a.goodput), share(b.goodput)),
      Row("p50 of good calls", a.p50, b.p50),
      Row("p99 of good calls", a.p99, b.p99),
      Row("refused by the guard", a.refused, b.refused),
      Row("attempts of the callers", PerSecond(a.attempts), PerSecond(b.attempts)),
      Row("for each call", absl::StrFormat("%.2f", a.attempts_per_call),
          absl::StrFormat("%.2f", b.attempts_per_call)),
      Row("load on the service", share(a.load), share(b.load)),
      Row("goodput after the storm", PerSecond(whole_a.recovery_goodput),
          PerSecond(whole_b.recovery_goodput)),
      Row("recovery time", RecoveryText(without, whole_a), RecoveryText(with, whole_b)),
      "",
      "Goodput is calls that succeed, and (%) of what the service can do. Load is the",
      "attempts that reach the service. Recovery is from the storm's end to 99% of the",
      "success before.",
  };
}

}  // namespace levee::demo
