// SPDX-License-Identifier: Apache-2.0
// Gives rules their place among the policies of a draft.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/draft.h"

namespace levee::importer {

// Routes of the same name share a policy if their rules are equal.
class PolicyTable {
 public:
  // Adds to `policies`, which must outlive it. The names in `reserved` are never given out.
  PolicyTable(std::vector<PolicyDraft>& policies, std::set<std::string> reserved)
      : policies_(policies), names_(std::move(reserved)) {}

  // Returns the name of the policy with these rules, which is made from `like`.
  std::string NameFor(PolicyRules rules, const std::string& like);

 private:
  std::vector<PolicyDraft>& policies_;
  Names names_;
  std::map<std::string, std::vector<size_t>> same_name_;  // by the name they are made from
};

}  // namespace levee::importer
