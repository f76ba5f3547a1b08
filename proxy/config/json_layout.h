// SPDX-License-Identifier: Apache-2.0
// Lays JSON out over several lines.
#pragma once

#include <string>

namespace levee {

// Lays out `json`, which must be valid and in one line. Each object and each list is in one line if
// that has at most 100 columns; otherwise each of its members has a line. Ends with a line end.
std::string LayOutJson(const std::string& json);

}  // namespace levee
