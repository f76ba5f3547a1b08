// SPDX-License-Identifier: Apache-2.0
#include "storms/seeds.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "base/check.h"

namespace levee {

uint64_t StormSeeds(uint64_t usual) {
  const char* const text = std::getenv("LEVEE_STORM_SEEDS");
  if (text == nullptr) return usual;
  uint64_t seeds = 0;
  LEVEE_CHECK(absl::SimpleAtoi(text, &seeds) && seeds > 0);
  return seeds;
}

}  // namespace levee
