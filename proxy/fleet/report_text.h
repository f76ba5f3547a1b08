// SPDX-License-Identifier: Apache-2.0
// A fleet as text for a terminal.
#pragma once

#include <string>

#include "fleet/report.h"

namespace levee::fleet {

std::string ReportText(const Report& report);

}  // namespace levee::fleet
