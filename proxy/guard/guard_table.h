// SPDX-License-Identifier: Apache-2.0
// The guards of all services, shared by the workers.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/instant.h"
#include "base/shared_table.h"
#include "guard/guard.h"
#include "policy/guard_policy.h"

namespace levee {

// Hands out one guard per upstream and guard policy. A guard lives while anybody holds it. Any
// thread; locks, so workers ask once per plan.
class GuardTable {
 public:
  using MakeRule = std::function<std::unique_ptr<LimitRule>(const ConcurrencyPolicy&)>;

  // `wake`: lets a worker look at its GuardLines soon. Any thread calls it. `rule`: makes the rule
  // of a guard's limit; nullptr: it is that of the policy.
  GuardTable(int workers, std::function<void(int worker)> wake, MakeRule rule = nullptr)
      : workers_(workers),
        wake_(std::move(wake)),
        rule_(rule == nullptr ? RuleOf : std::move(rule)) {}

  std::shared_ptr<Guard> Get(const std::string& upstream, const GuardPolicy& policy);

  // Returns the state of each guarded upstream; of several guards of one it is the sum, which
  // observes if all do, and whose scope is the service's if one of them has that.
  std::map<std::string, GuardView> Views(Instant now) const;

 private:
  struct Key {
    std::string upstream;
    GuardPolicy policy;
    friend std::partial_ordering operator<=>(const Key&, const Key&) = default;
  };

  const int workers_;
  const std::function<void(int)> wake_;
  const MakeRule rule_;
  SharedTable<Key, Guard> guards_;
};

}  // namespace levee
