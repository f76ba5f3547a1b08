// SPDX-License-Identifier: Apache-2.0
// Reads the files that are named on the command line.
#pragma once

#include <optional>
#include <string>

#include "config/fault.h"
#include "config/load.h"

namespace levee {

// Reads a file, or standard input if `file` is "-". nullopt, with a fault, if it cannot be read or
// is larger than `max_bytes`.
std::optional<ConfigText> ReadInput(const std::string& file, size_t max_bytes, FaultList& faults);

}  // namespace levee
