// SPDX-License-Identifier: Apache-2.0
// Translates the words of Envoy's retry_on, which Istio's retryOn has too.
#pragma once

#include <string>
#include <vector>

#include "import/draft.h"

namespace levee::importer {

// Sets codes, failures and http of a policy whose attempt_timeout is set if it has one. `statuses`
// are those that the word retriable-status-codes stands for. A word without equivalent gets a note.
void SetRetryOn(const std::string& retry_on, const std::vector<std::string>& statuses,
                RetryDraft& retry);

// Makes one attempt of a policy that retries nothing that Levee could retry.
void StopWithoutConditions(RetryDraft& retry);

}  // namespace levee::importer
