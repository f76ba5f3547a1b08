// SPDX-License-Identifier: Apache-2.0
// Lays out what --help prints.
#pragma once

#include <cstddef>
#include <string>

namespace levee {

// Returns help, in which descriptions begin at `column`, with lines that fit a terminal of 80
// columns.
std::string FitHelp(const std::string& help, size_t column);

}  // namespace levee
