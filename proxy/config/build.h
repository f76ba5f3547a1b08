// From the checked message to what the data plane reads.
#pragma once

#include <memory>
#include <vector>

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"
#include "settings/snapshot.h"

namespace levee {

// What LoadDescriptorSets has read, one per upstream.
using MethodsOfUpstreams = std::vector<std::shared_ptr<const DescribedMethods>>;

// `config` is complete and without fault: FieldChecker and Validate have passed it. `positions`
// goes into messages about addresses.
std::shared_ptr<const Snapshot> Build(const config::v1::Config& config, const Positions& positions,
                                      const MethodsOfUpstreams& methods);

}  // namespace levee
