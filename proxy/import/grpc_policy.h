// SPDX-License-Identifier: Apache-2.0
// Reads the retries of a gRPC service config as rules of Levee.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// Reads the timeout, retryPolicy and hedgingPolicy of a methodConfig. Values that gRPC refuses are
// faults.
PolicyRules ReadMethodPolicy(Section& method);

}  // namespace levee::importer
