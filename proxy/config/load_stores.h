// SPDX-License-Identifier: Apache-2.0
// Reads the passwords of stores.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// The passwords of one store; empty: it has none.
struct StorePasswords {
  std::string redis;
  std::string sentinels;
};

// Returns those of each store, by absolute paths. A file that cannot be read is a fault at the
// place that names it.
std::vector<StorePasswords> LoadStorePasswords(const config::v1::Config& config,
                                               const Positions& positions, FaultList& faults);

}  // namespace levee
