// SPDX-License-Identifier: Apache-2.0
// Finds values of a configuration that are legal, but dangerous or surely not intended.
#pragma once

#include "config/build.h"
#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports to `warnings` the dangers in `config`, which FieldChecker has completed. `methods` is the
// result of LoadDescriptorSets, `faults` are those that were found so far. A danger that depends on
// a value with a fault is passed over, and in a configuration that is not `complete`, since a part
// of it could not be read, also what depends on where routes lead.
void FindWarnings(const config::v1::Config& config, const Positions& positions,
                  const MethodsOfUpstreams& methods, const FaultList& faults, bool complete,
                  FaultList& warnings);

}  // namespace levee
