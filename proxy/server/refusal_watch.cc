// SPDX-License-Identifier: Apache-2.0
#include "server/refusal_watch.h"

namespace levee {
namespace {

constexpr absl::Duration kLookEvery = absl::Seconds(1);

}  // namespace

void RefusalWatch::OnRefused(const std::shared_ptr<RetryBudget>& budget,
                             const Destination& destination) {
  if (!io_.log.Enabled(EventKind::kBudgetExhausted)) return;
  Watched& watched = Note(ConditionKind::kBudgetExhausted, budget);
  if (watched.refused > 1) return;
  watched.condition.Report(io_.log, destination.upstream, destination.authority, "",
                           io_.loop.now());
}

void RefusalWatch::OnRefused(const std::shared_ptr<GuardLine>& guard,
                             const Destination& destination) {
  if (guard->guard().policy().observe || !io_.log.Enabled(EventKind::kGuardRefusing)) return;
  Watched& watched = Note(ConditionKind::kGuardRefuses, guard);
  if (watched.refused > 1) return;
  const Instant now = io_.loop.now();
  const GuardView view = guard->guard().View(now);
  watched.condition.Report(
      io_.log, destination.upstream, "", "", now,
      {{"slots", view.limit}, {"in_flight", view.in_flight}, {"waiting", view.waiting}});
}

RefusalWatch::Watched& RefusalWatch::Note(ConditionKind kind,
                                          const std::shared_ptr<const void>& what) {
  std::unique_ptr<Watched>& watched = watched_[what.get()];
  if (watched == nullptr) watched = std::make_unique<Watched>(kind, what);
  const Instant now = io_.loop.now();
  if (Timer::when().is_infinite()) io_.wheel.Arm(*this, now + kLookEvery);
  watched->refused_at = now;
  ++watched->refused;
  return *watched;
}

void RefusalWatch::OnTimer(Instant now) {
  absl::erase_if(watched_, [now](const auto& entry) {
    if (now - entry.second->refused_at < kQuiet) return false;
    entry.second->condition.End(now, entry.second->refused);
    return true;
  });
  if (!watched_.empty()) io_.wheel.Arm(*this, now + kLookEvery);
}

}  // namespace levee
