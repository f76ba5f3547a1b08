// SPDX-License-Identifier: Apache-2.0
// Reads the passwords of stores.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Returns one password per store, empty for one without; by absolute paths. A file that cannot be
// read is a fault at the place that names it.
std::vector<std::string> LoadStorePasswords(const config::v1::Config& config,
                                            const Positions& positions, FaultList& faults);

}  // namespace levee
