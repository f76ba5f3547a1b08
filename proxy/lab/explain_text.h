// SPDX-License-Identifier: Apache-2.0
// An explanation as text for a terminal.
#pragma once

#include <string>

#include "lab/explanation.h"

namespace levee {

std::string ExplanationText(const Explanation& explanation);

}  // namespace levee
