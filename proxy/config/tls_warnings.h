// SPDX-License-Identifier: Apache-2.0
// Finds dangers in certificates, keys and whom they are shown to.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Warns of what is legal but dangerous in the parts that speak TLS. The configuration is complete,
// as far as it could be read.
void FindTlsWarnings(const config::v1::Config& config, const Positions& positions,
                     FaultList& warnings);

}  // namespace levee
