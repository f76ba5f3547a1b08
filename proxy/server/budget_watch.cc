// SPDX-License-Identifier: Apache-2.0
#include "server/budget_watch.h"

namespace levee {
namespace {

constexpr absl::Duration kLookEvery = absl::Seconds(1);

}  // namespace

void BudgetWatch::OnRefused(const std::shared_ptr<RetryBudget>& budget,
                            const Destination& destination) {
  if (!io_.log.Enabled(EventKind::kBudgetExhausted)) return;
  const Instant now = io_.loop.now();
  std::unique_ptr<Watched>& watched = watched_[budget.get()];
  if (watched == nullptr) {
    watched = std::make_unique<Watched>();
    watched->budget = budget;
    watched->condition.Report(io_.log, destination.upstream, destination.authority, "", now);
    if (Timer::when().is_infinite()) io_.wheel.Arm(*this, now + kLookEvery);
  }
  watched->refused_at = now;
}

void BudgetWatch::OnTimer(Instant now) {
  absl::erase_if(watched_, [now](const auto& entry) {
    if (now - entry.second->refused_at < kQuiet) return false;
    entry.second->condition.End(now);
    return true;
  });
  if (!watched_.empty()) io_.wheel.Arm(*this, now + kLookEvery);
}

}  // namespace levee
