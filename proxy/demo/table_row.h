// SPDX-License-Identifier: Apache-2.0
// The rows of the demo's final tables.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "demo/run_record.h"

namespace levee::demo {

// Returns what both runs have of `what`, the run with Levee at the right.
std::string Row(absl::string_view what, absl::string_view plain, absl::string_view levee);

std::string PerSecond(double rate);

// Says how long the run took to recover, or that it did not.
std::string RecoveryText(const RunRecord& record, const Summary& summary);

}  // namespace levee::demo
