// What a check found, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"

namespace levee {

// "2 faults, 1 warning"; empty if there is neither.
std::string SummaryOf(const CheckedConfig& checked);

// {"ok": false, "files": [...], "faults": [{"file": ..., "line": ..., "column": ..., "code":
// "LV101", "severity": "fault", "path": ..., "text": ...}], "warnings": [...]} in one line;
// docs/checks.md says what the fields are.
std::string CheckReportJson(const std::vector<std::string>& files, const CheckedConfig& checked,
                            bool ok);

}  // namespace levee
