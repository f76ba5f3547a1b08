// What is legal in a configuration, but dangerous or surely not meant.
#pragma once

#include "config/build.h"
#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports to `warnings` what is dangerous in `config`, which FieldChecker has completed. `methods`
// is what LoadDescriptorSets has read. Of a `faulty` configuration, only what a policy, a listener
// or an upstream says by itself: what routes lead to is not known then. What could not be read is
// passed over.
void FindWarnings(const config::v1::Config& config, const Positions& positions,
                  const MethodsOfUpstreams& methods, bool faulty, FaultList& warnings);

}  // namespace levee
