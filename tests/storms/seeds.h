// SPDX-License-Identifier: Apache-2.0
// Over how many seeds the storms on virtual time run.
#pragma once

#include <cstdint>

namespace levee {

// Returns LEVEE_STORM_SEEDS, or `usual` seeds where it is not set: for these every run of the tests
// has time.
uint64_t StormSeeds(uint64_t usual);

}  // namespace levee
