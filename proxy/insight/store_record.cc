// SPDX-License-Identifier: Apache-2.0
#include "insight/store_record.h"

#include <algorithm>
#include <cstddef>

#include "telemetry/exposition.h"

namespace levee {

void StoreRecord::Update(uint32_t second, const std::vector<StoreTotals>& totals) {
  Look& look = looks_.emplace_back();
  look.second = second;
  for (const StoreTotals& total : totals) look.totals.emplace(total.store, total);
  while (looks_.size() > 2 && looks_[1].second + kSeconds <= second) looks_.pop_front();
}

StoreRecord::Past StoreRecord::Read(const std::string& store) const {
  Past past;
  past.added.store = store;
  if (looks_.size() < 2) return past;
  const Look& first = looks_.front();
  const Look& last = looks_.back();
  const auto now = last.totals.find(store);
  if (now == last.totals.end()) return past;
  past.seconds = std::max<uint32_t>(last.second - first.second, 1);
  past.added = now->second;
  const auto before = first.totals.find(store);
  if (before == first.totals.end()) return past;
  for (const StoreResult result : kAllOf<StoreResult, kStoreResults>) {
    past.added.requests[result] -= before->second.requests[result];
  }
  for (size_t bucket = 0; bucket < past.added.durations.size(); ++bucket) {
    past.added.durations[bucket] -= before->second.durations[bucket];
  }
  return past;
}

}  // namespace levee
