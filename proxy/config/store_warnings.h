// SPDX-License-Identifier: Apache-2.0
// Finds dangers in stores, and in what is kept in them.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Warns of stores that nothing uses or that are too slow for the claims in them, and of keys
// without the retries that they are for. The configuration is complete and has no fault.
void FindStoreWarnings(const config::v1::Config& config, const Positions& positions,
                       FaultList& warnings);

}  // namespace levee
