// SPDX-License-Identifier: Apache-2.0
// Checks the relations between the fields of a configuration.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports dangling references, contradictions, and addresses that are used twice in `config`, which
// FieldChecker has completed. Values that FieldChecker found faulty are passed over. If neither
// reports a fault, Build accepts the configuration.
void Validate(const config::v1::Config& config, const Positions& positions, FaultList& faults);

}  // namespace levee
