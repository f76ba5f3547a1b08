// SPDX-License-Identifier: Apache-2.0
// The pictures of an explanation, as SVG within HTML.
#pragma once

#include <string>
#include <vector>

#include "lab/delay_table.h"
#include "lab/outage.h"

namespace levee {

// Returns each delay between its bounds, with its median and its p99; empty if there is none.
std::string DelayChart(const std::vector<DelayRow>& rows);

// Returns the attempts per call of an outage, with the budget and without it.
std::string OutageChart(const std::vector<OutageLoad>& loads);

}  // namespace levee
