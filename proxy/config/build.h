// SPDX-License-Identifier: Apache-2.0
// Builds the values that the data plane reads from the checked message.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/load_stores.h"
#include "config/load_tls.h"
#include "config/positions.h"
#include "config/receiver.h"
#include "levee/config/v1/config.pb.h"
#include "settings/snapshot.h"

namespace levee {

// The result of LoadDescriptorSets, one per upstream.
using MethodsOfUpstreams = std::vector<std::shared_ptr<const DescribedMethods>>;

// The content of the files that a configuration names.
struct LoadedFiles {
  MethodsOfUpstreams methods;
  LoadedTls tls;
  std::vector<StorePasswords> passwords;  // one per store
  ReceiverHeaders headers;                // of otlp.headers_file
};

// `config` must be complete and without fault: FieldChecker and Validate have passed it.
// `positions` is used in messages about addresses.
std::shared_ptr<const Snapshot> Build(const config::v1::Config& config, const Positions& positions,
                                      const LoadedFiles& files);

}  // namespace levee
