// SPDX-License-Identifier: Apache-2.0
#include "demo/run_record.h"

#include <algorithm>

namespace levee::demo {
namespace {

constexpr double kAsGoodAsCalm = 0.99;
constexpr absl::Duration kWindow = absl::Seconds(1);
constexpr absl::Duration kStep = absl::Milliseconds(100);

std::optional<absl::Duration> Recovery(const RunRecord& record, double calm_success) {
  const absl::Duration fault_end = record.schedule().storm_end();
  for (absl::Duration start = fault_end; start + kWindow <= record.length(); start += kStep) {
    const Rates rates = record.Over(start, start + kWindow);
    if (rates.success > 0 && rates.success >= kAsGoodAsCalm * calm_success) {
      return start - fault_end;
    }
  }
  return std::nullopt;
}

// A window begins at each step, so that no second of much load is split in two.
double WorstSecond(const RunRecord& record) {
  double worst = 0;
  for (absl::Duration start = record.schedule().calm; start + kWindow <= record.length();
       start += kStep) {
    worst = std::max(worst, record.Over(start, start + kWindow).AttemptsPerCall());
  }
  return worst;
}

}  // namespace

Rates Between(const Sample& from, const Sample& to) {
  const double seconds = absl::ToDoubleSeconds(to.at - from.at);
  if (seconds <= 0) return {};
  const auto ok = static_cast<double>(to.calls.ok - from.calls.ok);
  const double ended = ok + static_cast<double>(to.calls.failed - from.calls.failed);
  return {.calls = static_cast<double>(to.calls.started - from.calls.started) / seconds,
          .ok = ok / seconds,
          .attempts = static_cast<double>(to.attempts - from.attempts) / seconds,
          .success = ended > 0 ? ok / ended : 0};
}

const Sample& RunRecord::At(absl::Duration at) const {
  const auto later =
      std::upper_bound(samples_.begin(), samples_.end(), at,
                       [](absl::Duration time, const Sample& sample) { return time < sample.at; });
  return later == samples_.begin() ? samples_.front() : *(later - 1);
}

Rates RunRecord::Over(absl::Duration from, absl::Duration to) const {
  if (empty()) return {};
  return Between(At(from), At(to));
}

Rates RunRecord::Latest(absl::Duration window) const { return Over(length() - window, length()); }

std::optional<GuardState> RunRecord::LatestGuard() const {
  if (guard_.empty()) return std::nullopt;
  return guard_.back().state;
}

std::optional<GuardRates> RunRecord::GuardOver(absl::Duration from, absl::Duration to) const {
  const GuardSample* first = nullptr;
  const GuardSample* last = nullptr;
  for (const GuardSample& sample : guard_) {
    if (sample.at < from || sample.at > to) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
  }
  if (first == nullptr || last->at <= first->at) return std::nullopt;
  const double seconds = absl::ToDoubleSeconds(last->at - first->at);
  return GuardRates{.attempts = (last->state.attempts - first->state.attempts) / seconds,
                    .refused = (last->state.refused - first->state.refused) / seconds};
}

Summary Summarize(const RunRecord& record) {
  const Schedule& schedule = record.schedule();
  const Rates calm = record.Over(absl::ZeroDuration(), schedule.calm);
  const Rates storm = record.Over(schedule.calm, schedule.storm_end());
  const Rates recovery = record.Over(schedule.storm_end(), record.length());
  return {.storm_load = storm.attempts,
          .recovery_load = recovery.attempts,
          .amplification = record.Over(schedule.calm, record.length()).AttemptsPerCall(),
          .worst_second = WorstSecond(record),
          .calm_goodput = calm.ok,
          .storm_goodput = storm.ok,
          .recovery_goodput = recovery.ok,
          .recovery = Recovery(record, calm.success)};
}

}  // namespace levee::demo
