// SPDX-License-Identifier: Apache-2.0
// The idempotency stores of all services, shared by the workers.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "base/shared_table.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/key_store.h"
#include "policy/dedupe_policy.h"

namespace levee {

// Hands out one store per upstream and policy, by their names, so that what is stored outlives a
// reload that changes its policy, but not where keys are kept. A store lives while anybody holds
// it. Any thread; locks, so workers ask once per plan.
class DedupeStores {
 public:
  // `wake`: lets a worker call Answer soon. Any thread calls it. `shared`: keeps the keys of
  // policies with a store, and outlives their tables; nullptr: no policy has one. `seed` differs in
  // each process.
  DedupeStores(int workers, std::function<void(int worker)> wake, KeyStore* shared = nullptr,
               uint64_t seed = 0)
      : workers_(workers), wake_(std::move(wake)), shared_(shared), random_(seed) {}

  // From now on no store takes more than `bytes`, whatever its policy says.
  void SetRoom(int64_t bytes);

  // A store that exists goes by `dedupe` from now on.
  std::shared_ptr<DedupeTable> Get(const std::string& upstream, const std::string& policy,
                                   const DedupePolicy& dedupe);

  // Tells the calls of `worker` that wait what was decided. In its thread.
  void Answer(int worker, Instant now);

  // Forgets what is over, as DedupeTable does.
  void ForgetOld(Instant now);

  // Returns what is stored for each upstream that has a store; of several the sum.
  struct View {
    DedupeTable::View stored;
    uint64_t forgotten = 0;  // outcomes that made room before their time, since the start
  };
  std::map<std::string, View> Views() const;

  // Returns how often any store had no room, since the start: outcomes that were forgotten before
  // their time, and keys that were refused.
  uint64_t TimesFull() const;

 private:
  struct Key {
    std::string upstream, policy, store;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Store {
    template <typename... Args>
    explicit Store(const DedupePolicy& policy, Args&&... args)
        : asked(policy), table(std::make_shared<DedupeTable>(std::forward<Args>(args)...)) {}

    DedupePolicy asked;                        // which may ask for more room than there is
    const std::shared_ptr<DedupeTable> table;  // which gives references to itself
  };

  DedupePolicy Bounded(const DedupePolicy& dedupe) const;
  std::shared_ptr<Store> Make(const Key& key, const DedupePolicy& dedupe);

  const int workers_;
  const std::function<void(int)> wake_;
  KeyStore* const shared_;
  mutable std::mutex mutex_;
  Random random_;
  int64_t room_ = INT64_MAX;
  std::map<std::string, std::shared_ptr<KeyLosses>>
      losses_;  // by upstream; they outlive its stores
  SharedTable<Key, Store> stores_;
};

}  // namespace levee
