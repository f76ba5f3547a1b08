// SPDX-License-Identifier: Apache-2.0
// Translates what several formats write alike: a number of retries, statuses of HTTP, and timeouts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

inline constexpr int kMostAttempts = 100;  // the most that a policy takes

// Returns the attempts of a call with `retries` after the first, which must not be negative; `key`
// is what the format calls them.
Field<int> AttemptsOf(int64_t retries, const std::string& key);

// The same of the number of retries at `key`, which is a fault if it is negative; `otherwise`: if
// it is not there.
Field<int> ReadAttemptsOf(Section& section, const std::string& key, int64_t otherwise);

// Sets `field` to the duration at `key`, unless that is absent, or 0s, which means none.
void SetPositive(Section& section, const std::string& key, Field<absl::Duration>& field);

// Adds the statuses from `first` to `last` that are failures, once each; 5xx for all from 500 to
// 599.
void AddStatuses(int first, int last, std::vector<std::string>& http);

// Leaves of a policy that retries nothing what holds for its only attempt.
void DropRetries(RetryDraft& retry);

// Makes rules that try a call once of those of a route that changes its calls on their way.
void TryOnceIfChanged(const Unsaid& unsaid, PolicyRules& rules);

}  // namespace levee::importer
