// SPDX-License-Identifier: Apache-2.0
#include "policy/budget_table.h"

#include <set>
#include <utility>

namespace levee {
namespace {

bool HasContent(const RetryBudget::State& state) { return state.calls > 0 || state.retries > 0; }

bool HasAccount(const RetryBudget& budget, Instant now) { return HasContent(budget.Read(now)); }

}  // namespace

BudgetTable::BudgetTable(int workers, int max_authorities)
    : workers_(workers),
      budgets_({.says = HasAccount,
                .made_up = [](const Key& key) { return !key.authority.empty(); },
                .most = max_authorities}),
      // These never have a floor, so one that is made anew is as strict.
      rest_({.says = HasAccount}) {}

BudgetTable::Account BudgetTable::Get(const std::string& upstream, const std::string& authority,
                                      const RetryBudgetPolicy& policy, Instant now) {
  rest_.ForgetNowAndThen(now);
  const auto make = [&](const RetryBudgetPolicy& of) {
    return [&of, this] { return std::make_shared<RetryBudget>(of, workers_); };
  };
  Account account{budgets_.Get(KeyOf(upstream, authority, policy), now, make(policy))};
  if (account.budget != nullptr) {
    if (policy.burst_follows) account.budget->RaiseBurst(policy.burst_least);
    return account;
  }
  RetryBudgetPolicy without_floor = policy;
  without_floor.floor_per_second = 0;
  return {rest_.Get(KeyOf(upstream, "", without_floor), now, make(without_floor)), true};
}

// Other attempts make no other budget.
BudgetTable::Key BudgetTable::KeyOf(const std::string& upstream, const std::string& authority,
                                    const RetryBudgetPolicy& policy) {
  Key key{upstream, authority, policy};
  if (policy.burst_follows) key.policy.burst_least = 0;
  return key;
}

std::vector<BudgetTable::View> BudgetTable::Views(Instant now) const {
  std::vector<View> views;
  std::vector<View> unused;
  std::set<std::string> known;  // upstreams that have a budget with content
  for (const Budgets* budgets : {&budgets_, &rest_}) {
    for (const auto& [key, budget, held] : budgets->All()) {
      const RetryBudget::State state = budget->Read(now);
      const bool has_content = HasContent(state);
      if (!has_content && !held) continue;
      if (has_content) known.insert(key.upstream);
      (has_content ? views : unused).push_back({key.upstream, budget->policy().ratio, state});
    }
  }
  // A budget that no call uses speaks for its upstream only if there is no other.
  for (View& view : unused) {
    if (known.insert(view.upstream).second) views.push_back(std::move(view));
  }
  return views;
}

}  // namespace levee
