// SPDX-License-Identifier: Apache-2.0
// Reads the timeouts and retries of an HTTPRoute's rule.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// Returns the rules that `rule` gives; those that it does not give are left to Levee's defaults.
PolicyRules ReadHttpRules(Section& rule);

}  // namespace levee::importer
