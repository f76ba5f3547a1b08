// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <bit>

#include "base/check.h"

namespace levee {

Random::Random(uint64_t seed) {
  // splitmix64 spreads any seed, zero too, over the whole state.
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

uint64_t Random::Below(uint64_t bound) {
  LEVEE_CHECK(bound > 0);
  // Values under `threshold` would make the low residues more likely, so they are drawn again.
  const uint64_t threshold = -bound % bound;
  for (;;) {
    const uint64_t value = Next();
    if (value >= threshold) return value % bound;
  }
}

}  // namespace levee
