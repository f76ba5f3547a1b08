// SPDX-License-Identifier: Apache-2.0
// Checks of manifests that have Levee in their pods. Pure.
#pragma once

#include <string>

#include "doctor/finding.h"

namespace levee::doctor {

// Returns what is wrong with Levee in the pods of `text`, which `file` names, and with its policy
// if the text has its ConfigMap too: the findings LD200 to LD207 in the order of the workloads.
Findings CheckPods(const std::string& file, const std::string& text);

}  // namespace levee::doctor
