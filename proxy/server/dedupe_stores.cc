// SPDX-License-Identifier: Apache-2.0
#include "server/dedupe_stores.h"

#include "absl/strings/str_cat.h"

namespace levee {

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
    if (known.dedupe != dedupe) table->SetPolicy(known.dedupe = dedupe);
    return table;
  }
  DedupeTable::Shared shared;
  if (!dedupe.store.empty()) {
    // Names have no line ends.
    shared = {.store = shared_,
              .name = absl::StrCat(upstream, "\n", policy, "\n"),
              .seed = random_.Next()};
  }
  auto table = std::make_shared<DedupeTable>(dedupe, workers_, wake_, std::move(shared));
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

std::map<std::string, DedupeTable::View> DedupeStores::Views() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, DedupeTable::View> views;
  for (const Known& known : stores_) {
    const std::shared_ptr<DedupeTable> table = known.table.lock();
    if (table == nullptr) continue;
    const DedupeTable::View view = table->GetView();
    DedupeTable::View& sum = views[known.upstream];
    sum.keys += view.keys;
    sum.bytes += view.bytes;
    sum.in_flight += view.in_flight;
  }
  return views;
}

}  // namespace levee
