// From the checked message to what the data plane reads.
#pragma once

#include <memory>

#include "config/positions.h"
#include "config/snapshot.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// `config` is complete and without fault: FieldChecker and Validate have passed it. `positions`
// goes into messages about addresses.
std::shared_ptr<const Snapshot> Build(const config::v1::Config& config, const Positions& positions);

}  // namespace levee
