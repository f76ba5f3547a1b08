// SPDX-License-Identifier: Apache-2.0
#include "policy/budget_table.h"

#include <set>
#include <utility>

namespace levee {
namespace {

// Looking through all budgets is worth it only so often.
constexpr absl::Duration kForgetEvery = absl::Seconds(1);

bool HasContent(const RetryBudget::State& state) { return state.calls > 0 || state.retries > 0; }

}  // namespace

BudgetTable::Account BudgetTable::Get(const std::string& upstream, const std::string& authority,
                                      const RetryBudgetPolicy& policy, Instant now) {
  const std::lock_guard lock(mutex_);
  if (now >= next_forgetting_) Forget(now);
  const Key key = KeyOf(upstream, authority, policy);
  if (const auto found = budgets_.find(key); found != budgets_.end()) {
    if (policy.burst_follows) found->second->RaiseBurst(policy.burst_least);
    return {found->second};
  }
  if (authority.empty() || authorities_ < max_authorities_) {
    if (!authority.empty()) ++authorities_;
    return {budgets_.emplace(key, std::make_shared<RetryBudget>(policy, workers_)).first->second};
  }
  RetryBudgetPolicy without_floor = policy;
  without_floor.floor_per_second = 0;
  std::shared_ptr<RetryBudget>& rest = shared_[KeyOf(upstream, "", without_floor)];
  if (rest == nullptr) rest = std::make_shared<RetryBudget>(without_floor, workers_);
  return {rest, true};
}

BudgetTable::Key BudgetTable::KeyOf(const std::string& upstream, const std::string& authority,
                                    const RetryBudgetPolicy& policy) {
  return {upstream, authority, policy.ratio, policy.window, policy.floor_per_second,
          policy.floor_min_success,
          // Other attempts make no other budget.
          policy.burst_follows ? -1 : policy.burst_least, policy.burst_span, policy.wait};
}

void BudgetTable::SetMaxAuthorities(int max_authorities) {
  const std::lock_guard lock(mutex_);
  max_authorities_ = max_authorities;
}

// The lock is held.
void BudgetTable::Forget(Instant now) {
  next_forgetting_ = now + kForgetEvery;
  std::erase_if(budgets_, [&](const auto& entry) {
    if (entry.second.use_count() > 1 || HasContent(entry.second->Read(now))) return false;
    if (!std::get<1>(entry.first).empty()) --authorities_;
    return true;
  });
  // These never have a floor, so one that is made anew is as strict.
  std::erase_if(shared_, [&](const auto& entry) {
    return entry.second.use_count() == 1 && !HasContent(entry.second->Read(now));
  });
}

std::vector<BudgetTable::View> BudgetTable::Views(Instant now) const {
  const std::lock_guard lock(mutex_);
  std::vector<View> views;
  std::vector<View> unused;
  std::set<std::string> known;  // upstreams that have a budget with content
  for (const Budgets* budgets : {&budgets_, &shared_}) {
    for (const auto& [key, budget] : *budgets) {
      const RetryBudget::State state = budget->Read(now);
      const bool has_content = HasContent(state);
      if (!has_content && budget.use_count() == 1) continue;
      if (has_content) known.insert(std::get<0>(key));
      (has_content ? views : unused).push_back({std::get<0>(key), budget->policy().ratio, state});
    }
  }
  // A budget that no call uses speaks for its upstream only if there is no other.
  for (View& view : unused) {
    if (known.insert(view.upstream).second) views.push_back(std::move(view));
  }
  return views;
}

}  // namespace levee
