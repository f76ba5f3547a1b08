// SPDX-License-Identifier: Apache-2.0
#include "guard/lone_calls.h"

#include <algorithm>

namespace levee {

std::unique_ptr<LoneCalls::Place> LoneCalls::Enter(uint64_t caller, int slots) {
  const int counted = slots == 0 ? kMostSlots : std::min(slots, kMostSlots);
  const std::lock_guard lock(mutex_);
  if (all_ >= counted / 2) return nullptr;
  const auto found = callers_.try_emplace(caller, 0).first;
  if (found->second >= std::max(counted / 4, 1)) return nullptr;
  ++found->second;
  ++all_;
  return std::make_unique<Place>(*this, found);
}

void LoneCalls::Leave(Callers::iterator caller) {
  const std::lock_guard lock(mutex_);
  --all_;
  if (--caller->second == 0) callers_.erase(caller);
}

}  // namespace levee
