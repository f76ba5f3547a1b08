// What the fields of a configuration have to do with each other.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports dangling references, contradictions and addresses used twice in `config`, which
// FieldChecker has completed. Values that it found faulty are passed over. Without any fault from
// either, Build accepts the configuration.
void Validate(const config::v1::Config& config, const Positions& positions, FaultList& faults);

}  // namespace levee
