// SPDX-License-Identifier: Apache-2.0
// A fleet as one HTML file.
#pragma once

#include <string>

#include "fleet/report.h"

namespace levee::fleet {

std::string ReportHtml(const Report& report);

}  // namespace levee::fleet
