// SPDX-License-Identifier: Apache-2.0
// What the environment says of tests on virtual time: over how many seeds storms and random calls
// run, and what descriptors say of calls.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/call_kind.h"

namespace levee {

// Returns LEVEE_STORM_SEEDS, or `usual` seeds where it is not set: for these every run of the tests
// has time.
uint64_t StormSeeds(uint64_t usual);

// As StormSeeds, of random calls: LEVEE_PROPERTY_SEEDS, and the first of the seeds, which is
// LEVEE_PROPERTY_FIRST or 1.
uint64_t PropertySeeds(uint64_t usual);
uint64_t FirstPropertySeed();

// Returns LEVEE_DESCRIBED, unary or stream: what a descriptor says of all methods. nullopt if it is
// not set: there is no descriptor, but in tests that say otherwise.
std::optional<CallKind> DescribedKind();

}  // namespace levee
