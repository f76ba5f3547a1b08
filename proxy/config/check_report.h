// SPDX-License-Identifier: Apache-2.0
// Reports the result of a check, to people and to programs.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"

namespace levee {

// Returns "2 faults, 1 warning"; empty if there is neither.
std::string SummaryOf(const CheckedConfig& checked);

// Returns {"ok": false, "files": [...], "faults": [{"file": ..., "line": ..., "column": ...,
// "code": "LV101", "severity": "fault", "path": ..., "text": ...}], "warnings": [...]} in one line.
// docs/checks.md explains the fields.
std::string CheckReportJson(const std::vector<std::string>& files, const CheckedConfig& checked,
                            bool ok);

}  // namespace levee
