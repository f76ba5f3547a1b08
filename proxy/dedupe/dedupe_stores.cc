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
  for (const auto& [key, store, held] : stores_.All()) {
    store->table->SetPolicy(Bounded(store->asked));
  }
}

std::shared_ptr<DedupeTable> DedupeStores::Get(const std::string& upstream,
                                               const std::string& policy,
                                               const DedupePolicy& dedupe) {
  const std::lock_guard lock(mutex_);
  const Key key{upstream, policy, dedupe.store};
  const std::shared_ptr<Store> store =
      stores_.Get(key, Instant(), [&] { return Make(key, dedupe); });
  if (store->asked != dedupe) store->table->SetPolicy(Bounded(store->asked = dedupe));
  return {store, store->table.get()};
}

// The lock is held.
std::shared_ptr<DedupeStores::Store> DedupeStores::Make(const Key& key,
                                                        const DedupePolicy& dedupe) {
  auto& losses = losses_[key.upstream];
  if (losses == nullptr) losses = std::make_shared<KeyLosses>();
  DedupeTable::Shared shared;
  if (!key.store.empty()) {
    // Names have no line ends.
    shared = {.store = shared_,
              .name = absl::StrCat(key.upstream, "\n", key.policy, "\n"),
              .seed = random_.Next()};
  }
  return std::make_shared<Store>(dedupe, Bounded(dedupe), workers_, wake_, std::move(shared),
                                 losses);
}

void DedupeStores::Answer(int worker, Instant now) {
  // A call that ends may drop the last plan of a store, so they are held meanwhile.
  for (const auto& [key, store, held] : stores_.All()) store->table->Answer(worker, now);
}

void DedupeStores::ForgetOld(Instant now) {
  for (const auto& [key, store, held] : stores_.All()) store->table->ForgetOld(now);
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
  for (const auto& [key, store, held] : stores_.All()) {
    const DedupeTable::View view = store->table->GetView();
    View& sum = views[key.upstream];
    sum.stored.keys += view.keys;
    sum.stored.bytes += view.bytes;
    sum.stored.in_flight += view.in_flight;
    sum.forgotten = losses_.at(key.upstream)->forgotten.load(std::memory_order_relaxed);
  }
  return views;
}

}  // namespace levee
