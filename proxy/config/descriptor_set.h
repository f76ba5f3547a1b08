// Files with a FileDescriptorSet: the methods of an upstream, and which of them are idempotent.
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

// The methods in `bytes`, a serialized FileDescriptorSet. An error is half a sentence that the
// file's name precedes.
absl::StatusOr<DescribedMethods> ParseDescriptorSet(const std::string& bytes);

// Reads the files that the upstreams of `config` name as their descriptor_set, by absolute paths;
// what is wrong with one is reported where it is named. One entry per upstream, nullptr where there
// is none; upstreams that name one file share one.
std::vector<std::shared_ptr<const DescribedMethods>> LoadDescriptorSets(
    const config::v1::Config& config, const Positions& positions, FaultList& faults);

}  // namespace levee
