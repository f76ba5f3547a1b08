// SPDX-License-Identifier: Apache-2.0
// The idempotency stores of all services, shared by the workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "dedupe/dedupe_table.h"
#include "policy/dedupe_policy.h"

namespace levee {

// Hands out one store per upstream and policy, by their names, so that what is stored outlives a
// reload that changes its policy. A store lives while anybody holds it. Any thread; locks, so
// workers ask once per plan.
class DedupeStores {
 public:
  // `wake`: lets a worker call Answer soon. Any thread calls it.
  DedupeStores(int workers, std::function<void(int worker)> wake)
      : workers_(workers), wake_(std::move(wake)) {}

  // A store that exists goes by `dedupe` from now on.
  std::shared_ptr<DedupeTable> Get(const std::string& upstream, const std::string& policy,
                                   const DedupePolicy& dedupe);

  // Tells the calls of `worker` that wait what was decided. In its thread.
  void Answer(int worker, Instant now);

  // Returns what is stored for each upstream that has a store; of several the sum.
  std::map<std::string, DedupeTable::View> Views() const;

 private:
  struct Known {
    std::string upstream, policy;
    DedupePolicy dedupe;
    std::weak_ptr<DedupeTable> table;
  };

  std::vector<std::shared_ptr<DedupeTable>> Tables() const;

  const int workers_;
  const std::function<void(int)> wake_;
  mutable std::mutex mutex_;
  std::vector<Known> stores_;
};

}  // namespace levee
