// SPDX-License-Identifier: Apache-2.0
// The one source of randomness: seeded, and the same on every machine and library version.
#pragma once

#include <array>
#include <cstdint>

namespace levee {

// xoshiro256** 1.0 (Blackman and Vigna, 2018) seeded by splitmix64. The standard library's
// distributions differ between versions, so the uniforms are our own: a seed must replay.
// Not for secrets. One thread per object.
class Random {
 public:
  explicit Random(uint64_t seed);

  // Returns 64 uniform bits.
  uint64_t Next();

  // Returns a number uniform in [0, 1), of 53 bits.
  double Uniform();

  // Returns a number uniform in [0, bound), without modulo bias. `bound` is above 0.
  uint64_t Below(uint64_t bound);

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace levee
