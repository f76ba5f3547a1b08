// SPDX-License-Identifier: Apache-2.0
#include "guard/guard_table.h"

namespace levee {

std::shared_ptr<Guard> GuardTable::Get(const std::string& upstream, const GuardPolicy& policy) {
  return guards_.Get({upstream, policy}, Instant(), [&] {
    auto guard = std::make_shared<Guard>(policy, workers_, rule_(policy.concurrency));
    for (int worker = 0; worker < workers_; ++worker) {
      guard->SetWake(worker, [this, worker] { wake_(worker); });
    }
    return guard;
  });
}

std::map<std::string, GuardView> GuardTable::Views(Instant now) const {
  std::map<std::string, GuardView> views;
  for (const auto& [key, guard, held] : guards_.All()) {
    const GuardView view = guard->View(now);
    const auto [entry, first] = views.try_emplace(key.upstream);
    GuardView& sum = entry->second;
    sum.observes = view.observes && (first || sum.observes);
    if (view.scope == OverloadScope::kService) sum.scope = view.scope;
    sum.limit += view.limit;
    sum.least += view.least;
    sum.in_flight += view.in_flight;
    sum.streams += view.streams;
    sum.waiting += view.waiting;
    sum.stands |= view.stands;
    for (size_t i = 0; i < sum.arrivals.size(); ++i) sum.arrivals[i] += view.arrivals[i];
    sum.reported += view.reported;
  }
  return views;
}

}  // namespace levee
