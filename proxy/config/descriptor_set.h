// SPDX-License-Identifier: Apache-2.0
// Reads files with a FileDescriptorSet: an upstream's methods, and which are idempotent.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"
#include "settings/snapshot.h"

namespace levee {

// Larger files are refused unread: the descriptors of a thousand services are a few MiB.
inline constexpr size_t kMaxDescriptorSetBytes = 64 << 20;

// Returns the methods in `bytes`, a serialized FileDescriptorSet. An error is half a sentence that
// follows the file's name.
absl::StatusOr<DescribedMethods> ParseDescriptorSet(const std::string& bytes);

// Reads the files that the upstreams of `config` name as their descriptor_set, by absolute paths. A
// fault of a file is reported at the place that names the file. Returns one entry per upstream,
// nullptr for an upstream without a file. Upstreams that name one file share one entry.
std::vector<std::shared_ptr<const DescribedMethods>> LoadDescriptorSets(
    const config::v1::Config& config, const Positions& positions, FaultList& faults);

}  // namespace levee
