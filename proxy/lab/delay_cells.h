// SPDX-License-Identifier: Apache-2.0
// The table of delays as texts.
#pragma once

#include <string>
#include <vector>

#include "lab/delay_table.h"

namespace levee {

// Returns the names of the columns. `rows`: at least one.
std::vector<std::string> DelayHead(const std::vector<DelayRow>& rows);

// Returns one text for each column of each row.
std::vector<std::vector<std::string>> DelayCells(const std::vector<DelayRow>& rows);

}  // namespace levee
