// SPDX-License-Identifier: Apache-2.0
// Reads Envoy's retry_policy as Levee's retry.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// Reads everything except the budget, which belongs to clusters in Envoy.
RetryDraft ReadEnvoyRetryPolicy(Section policy);

}  // namespace levee::importer
