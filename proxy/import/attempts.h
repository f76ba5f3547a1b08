// SPDX-License-Identifier: Apache-2.0
// Translates retries as several formats write them: a number of retries, and statuses of HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/draft.h"

namespace levee::importer {

inline constexpr int kMostAttempts = 100;  // the most that a policy takes

// Returns the attempts of a call with `retries` after the first, which must not be negative; `key`
// is what the format calls them.
Field<int> AttemptsOf(int64_t retries, const std::string& key);

// Adds the statuses from `first` to `last` that are failures, once each; 5xx for all from 500 to
// 599.
void AddStatuses(int first, int last, std::vector<std::string>& http);

// Leaves of a policy that retries nothing what holds for its only attempt.
void DropRetries(RetryDraft& retry);

// Makes rules that try a call once of those of a route that changes its calls on their way.
void TryOnceIfChanged(const Unsaid& unsaid, PolicyRules& rules);

}  // namespace levee::importer
