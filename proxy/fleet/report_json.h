// SPDX-License-Identifier: Apache-2.0
// A fleet as JSON.
#pragma once

#include <string>

#include "fleet/report.h"

namespace levee::fleet {

std::string ReportJson(const Report& report);

}  // namespace levee::fleet
