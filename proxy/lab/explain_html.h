// SPDX-License-Identifier: Apache-2.0
// An explanation as one HTML file.
#pragma once

#include <string>

#include "lab/explanation.h"

namespace levee {

std::string ExplanationHtml(const Explanation& explanation);

}  // namespace levee
