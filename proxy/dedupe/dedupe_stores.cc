// SPDX-License-Identifier: Apache-2.0
#include "dedupe/dedupe_stores.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee {

DedupePolicy DedupeStores::Bounded(const DedupePolicy& dedupe) const {
  DedupePolicy bounded = dedupe;
  bounded.max_bytes = std::min(bounded.max_bytes, room_);
  return bounded;
}

void DedupeStores::SetRoom(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(room_, bytes) == bytes) return;
  for (const Known& known : stores_) {
    if (const auto table = known.table.lock()) table->SetPolicy(Bounded(known.dedupe));
  }
}

std::shared_ptr<DedupeTable> DedupeStores::Get(const std::string& upstream,
                                               const std::string& policy,
                                               const DedupePolicy& dedupe) {
  const std::lock_guard lock(mutex_);
  std::erase_if(stores_, [](const Known& known) { return known.table.expired(); });
  for (Known& known : stores_) {
    std::shared_ptr<DedupeTable> table = known.table.lock();
    if (table == nullptr || known.upstream != upstream || known.policy != policy ||
        known.dedupe.store != dedupe.store) {
      continue;
    }
    if (known.dedupe != dedupe) table->SetPolicy(Bounded(known.dedupe = dedupe));
    return table;
  }
  auto& losses = losses_[upstream];
  if (losses == nullptr) losses = std::make_shared<KeyLosses>();
  DedupeTable::Shared shared;
  if (!dedupe.store.empty()) {
    // Names have no line ends.
    shared = {.store = shared_,
              .name = absl::StrCat(upstream, "\n", policy, "\n"),
              .seed = random_.Next()};
  }
  auto table =
      std::make_shared<DedupeTable>(Bounded(dedupe), workers_, wake_, std::move(shared), losses);
  stores_.push_back({upstream, policy, dedupe, table});
  return table;
}

std::vector<std::shared_ptr<DedupeTable>> DedupeStores::Tables() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<DedupeTable>> tables;
  for (const Known& known : stores_) {
    if (auto table = known.table.lock()) tables.push_back(std::move(table));
  }
  return tables;
}

void DedupeStores::Answer(int worker, Instant now) {
  // A call that ends may drop the last plan of a store, so they are held meanwhile.
  for (const auto& table : Tables()) table->Answer(worker, now);
}

void DedupeStores::ForgetOld(Instant now) {
  for (const auto& table : Tables()) table->ForgetOld(now);
}

uint64_t DedupeStores::TimesFull() const {
  const std::lock_guard lock(mutex_);
  uint64_t times = 0;
  for (const auto& [upstream, losses] : losses_) {
    times += losses->forgotten.load(std::memory_order_relaxed);
    times += losses->refused.load(std::memory_order_relaxed);
  }
  return times;
}

std::map<std::string, DedupeStores::View> DedupeStores::Views() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, View> views;
  for (const Known& known : stores_) {
    const std::shared_ptr<DedupeTable> table = known.table.lock();
    if (table == nullptr) continue;
    const DedupeTable::View view = table->GetView();
    View& sum = views[known.upstream];
    sum.stored.keys += view.keys;
    sum.stored.bytes += view.bytes;
    sum.stored.in_flight += view.in_flight;
    sum.forgotten = losses_.at(known.upstream)->forgotten.load(std::memory_order_relaxed);
  }
  return views;
}

}  // namespace levee
