// SPDX-License-Identifier: Apache-2.0
#include "import/policy_table.h"

#include <utility>

namespace levee::importer {

std::string PolicyTable::NameFor(PolicyRules rules, const std::string& like) {
  std::vector<size_t>& same_name = same_name_[like];
  for (const size_t i : same_name) {
    if (policies_[i].rules == rules) return policies_[i].name;
  }
  same_name.push_back(policies_.size());
  PolicyDraft policy;
  policy.name = names_.Next(like);
  policy.rules = std::move(rules);
  policies_.push_back(std::move(policy));
  return policies_.back().name;
}

}  // namespace levee::importer
