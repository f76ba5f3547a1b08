// SPDX-License-Identifier: Apache-2.0
// What `levee doctor` says of a sidecar: findings, and how they are printed.
#pragma once

#include <string>
#include <vector>

namespace levee::doctor {

// kFault: it does not work, or not as it is meant to. kWarning: it works, and may not for long.
enum class Severity { kOk, kWarning, kFault };

// The result of one check.
struct Finding {
  Severity severity;
  std::string code;  // "LD107", of docs/doctor.md
  std::string text;  // what was found, one line
  std::string cure;  // what helps, one line; empty if the check is passed
};

using Findings = std::vector<Finding>;

// Returns the worst of the findings; kOk of none.
Severity WorstOf(const Findings& findings);

// Returns a line for each finding: "fault   LD107 cart: ...; CURE", without control characters.
std::string FindingsText(const Findings& findings);

// Returns {"ok": false, "checks": [{"severity": "fault", "code": "LD107", "text": ..., "cure":
// ...}]} in one line. `ok`: what the exit code says.
std::string FindingsJson(const Findings& findings, bool ok);

}  // namespace levee::doctor
