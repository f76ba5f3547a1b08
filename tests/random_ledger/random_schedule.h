// SPDX-License-Identifier: Apache-2.0
// What random calls are and what they meet, whatever the policies.
#pragma once

#include <cstdint>

#include "ledger/schedule.h"

namespace levee::ledger {

// No attempt of a call is beyond this one under any policy that can be drawn.
inline constexpr int kMostAttempts = 6;

// Faults are frequent, and there are times in which nearly everything fails. Calls repeat others,
// with and without a key, and bring what limits and guards look at.
class RandomSchedule final : public Schedule {
 public:
  explicit RandomSchedule(uint64_t seed) : seed_(seed) {}

  CallShape CallOf(uint64_t id) const override;
  FaultShape FaultOf(uint64_t id, int start) const override;

 private:
  uint64_t Draw(uint64_t id, uint64_t salt) const { return DrawOf(seed_, id, salt); }
  bool Chance(uint64_t id, uint64_t salt, uint64_t percent) const {
    return Draw(id, salt) % 100 < percent;
  }
  // The first of the calls that `id` is a repetition of: `id` if it is none.
  uint64_t FirstOf(uint64_t id) const;
  // The call whose method and key it has, mostly itself, if `id` repeats none.
  uint64_t KinOf(uint64_t id) const;
  void AddMetadata(uint64_t id, CallShape& shape) const;
  Ending EndingOf(uint64_t draw) const;

  const uint64_t seed_;
};

}  // namespace levee::ledger
