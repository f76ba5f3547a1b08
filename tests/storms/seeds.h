// SPDX-License-Identifier: Apache-2.0
// Over how many seeds the storms and the random calls on virtual time run.
#pragma once

#include <cstdint>

namespace levee {

// Returns LEVEE_STORM_SEEDS, or `usual` seeds where it is not set: for these every run of the tests
// has time.
uint64_t StormSeeds(uint64_t usual);

// As StormSeeds, of random calls: LEVEE_PROPERTY_SEEDS, and the first of the seeds, which is
// LEVEE_PROPERTY_FIRST or 1.
uint64_t PropertySeeds(uint64_t usual);
uint64_t FirstPropertySeed();

}  // namespace levee
