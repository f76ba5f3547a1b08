// SPDX-License-Identifier: Apache-2.0
// Finds values of a configuration that are legal, but dangerous or surely not intended.
#pragma once

#include "config/build.h"
#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports to `warnings` the dangers in `config`, which FieldChecker has completed. `methods` is the
// result of LoadDescriptorSets. In a `faulty` configuration only policies, listeners and upstreams
// are checked, each by itself, because it is not known where routes lead. Parts that could not be
// read are passed over.
void FindWarnings(const config::v1::Config& config, const Positions& positions,
                  const MethodsOfUpstreams& methods, bool faulty, FaultList& warnings);

}  // namespace levee
