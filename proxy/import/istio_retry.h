// SPDX-License-Identifier: Apache-2.0
// Reads the timeout and the retries of one of a VirtualService's routes.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

PolicyRules ReadIstioRules(Section& http);

}  // namespace levee::importer
