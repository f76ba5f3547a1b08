// SPDX-License-Identifier: Apache-2.0
// Checks of a sidecar that runs, by what it says of itself. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "config/load.h"
#include "doctor/finding.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee::doctor {

// The result of dialling an endpoint of the configuration.
struct Dialled {
  std::string upstream;
  std::string endpoint;  // "cart:50051"
  std::string failure;   // why there is no connection; empty if there is one
};

// A sidecar as it can be seen from here.
struct SidecarFacts {
  admin::v1::State state;
  CheckedConfig config;  // its effective configuration, as it is checked here
  absl::Time now;        // by the clock here
  // Whether it runs in this container, so that files, memory and networks are the same.
  bool here = false;
  int64_t memory = 0;            // bytes that it may have; 0: not known
  int64_t descriptors = 0;       // that its callers' connections may take; 0: not known
  std::vector<Dialled> dialled;  // only endpoints that it has not dialled itself
};

// Certificates that expire within this time are warned of.
inline constexpr absl::Duration kExpiresSoon = absl::Hours(7 * 24);

// Clocks that differ by more are warned of: the times of logs and traces then do not fit.
inline constexpr absl::Duration kClockDiffers = absl::Seconds(5);

// Returns the findings in the order of their codes, LD102 to LD115.
Findings CheckSidecar(const SidecarFacts& facts);

}  // namespace levee::doctor
