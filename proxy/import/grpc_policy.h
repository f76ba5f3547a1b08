// What a gRPC service config says about retries, as Levee says it.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// The timeout, retryPolicy and hedgingPolicy of a methodConfig. What gRPC refuses is a fault.
PolicyRules ReadMethodPolicy(Section& method);

}  // namespace levee::importer
